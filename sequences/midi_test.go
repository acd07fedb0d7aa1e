package sequences

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// A note on or off in a MIDI file.
type heard struct {
	tick, kind, key int
}

// hear reads the notes of a MIDI file of one track, and checks its lengths.
func hear(t *testing.T, file []byte) (all []heard) {
	t.Helper()
	track := file[22:]
	if string(file[:4]) != "MThd" || string(file[14:18]) != "MTrk" || binary.BigEndian.Uint32(file[18:22]) != uint32(len(track)) {
		t.Fatalf("the file begins with % x", file[:22])
	}
	tick := 0
	for len(track) > 0 {
		delta := 0
		for more := true; more; track = track[1:] {
			delta, more = delta<<7|int(track[0]&0x7F), track[0] >= 0x80
		}
		tick += delta
		if track[0] == 0xFF { // a type, a length, and so many bytes
			track = track[3+track[2]:]
			continue
		}
		all = append(all, heard{tick, int(track[0]), int(track[1])})
		track = track[3:]
	}
	return all
}

// Notes last while their unit is on, and the second sequence follows after four steps of rest.
func TestMIDI(t *testing.T) {
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 88}, Values: [][]float64{make([]float64, 176), make([]float64, 176)}}
	sheet.Values[0][39], sheet.Values[0][88+39], sheet.Values[0][88+43] = 1, 1, 0.6 // middle C twice, and E
	sheet.Values[1][0] = 1
	var b bytes.Buffer
	if err := WriteMIDI(&b, sheet, nil); err != nil {
		t.Fatal(err)
	}
	want := []heard{{0, noteOn, 60}, {480, noteOn, 64}, {960, noteOff, 60}, {960, noteOff, 64}, {6 * 480, noteOn, 21}, {7 * 480, noteOff, 21}}
	if got := hear(t, b.Bytes()); !slices.Equal(got, want) {
		t.Errorf("the file has the notes %v, want %v", got, want)
	}
	for _, c := range []struct {
		units  int
		keys   []int
		lowest int
		says   string
	}{
		{11, []int{30, 40}, 30, ""},
		{88, []int{20, 107}, 20, ""},
		{128, []int{0, 127}, 0, ""},
		{128, nil, 0, ""},
		{11, nil, 55, ""},
		{129, nil, 0, "steps have 129 units, and MIDI has 128 notes"},
		{11, []int{120, 130}, 0, "the data have the keys [120 130], and MIDI has the keys 0 to 127"},
		{5, []int{30, 40}, 0, "steps have 5 units, but the data have the keys [30 40]"},
	} {
		step := make([]float64, c.units)
		step[0], step[c.units-1] = 1, 1
		b.Reset()
		err := WriteMIDI(&b, dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: c.units}, Values: [][]float64{step}}, c.keys)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d units of keys %v: the error is %v", c.units, c.keys, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := []heard{{0, noteOn, c.lowest}, {0, noteOn, c.lowest + c.units - 1}, {480, noteOff, c.lowest}, {480, noteOff, c.lowest + c.units - 1}}
		if got := hear(t, b.Bytes()); !slices.Equal(got, want) {
			t.Errorf("%d units of keys %v sound as %v, want %v", c.units, c.keys, got, want)
		}
	}
	uneven := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 88}, Values: [][]float64{{1}}}
	if err := WriteMIDI(&b, uneven, nil); err == nil || !strings.Contains(err.Error(), "image 1 has 1 value, but its shape is 2×88: give 176") {
		t.Errorf("the error is %v", err)
	}
}
