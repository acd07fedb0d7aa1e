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
	if err := WriteMIDI(&b, sheet); err != nil {
		t.Fatal(err)
	}
	want := []heard{{0, noteOn, 60}, {480, noteOn, 64}, {960, noteOff, 60}, {960, noteOff, 64}, {6 * 480, noteOn, 21}, {7 * 480, noteOff, 21}}
	if got := hear(t, b.Bytes()); !slices.Equal(got, want) {
		t.Errorf("the file has the notes %v, want %v", got, want)
	}
	wide := dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 121}, Values: [][]float64{make([]float64, 121)}}
	if err := WriteMIDI(&b, wide); err == nil || !strings.Contains(err.Error(), "steps have 121 units, and MIDI has 128 notes") {
		t.Errorf("the error is %v", err)
	}
	uneven := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 88}, Values: [][]float64{{1}}}
	if err := new(Belief).WriteMIDI(&b, uneven); err == nil || !strings.Contains(err.Error(), "image 1 has 1 value, but its shape is 2×88: give 176") {
		t.Errorf("the error is %v", err)
	}
}
