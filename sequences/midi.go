package sequences

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/helmholtz-go/helmholtz/dataset"
)

const (
	ticksPerStep = 480 // a step is a quarter note at 120 beats per minute
	velocity     = 80
	restSteps    = 4 // after each sequence
	pianoKeys    = 88
	lowestPiano  = 21
	middleC      = 60
	notes        = 128
	noteOn       = 0x90
	noteOff      = 0x80
)

// WriteMIDI writes sequences, which are images whose rows are steps, into one standard MIDI file of format 0.
// A rest follows each sequence. A unit sounds while its value is above ½. keys holds the MIDI numbers of the first and
// the last unit, as Set.Keys returns them. If it is nil, 88 units are the keys of a piano, and any other number of
// units lies around middle C. WriteMIDI refuses more than 128 units, keys that MIDI lacks or that are not as many as the
// units, values that are not from 0 to 1, and a sheet that Sheet.Check refuses.
func WriteMIDI(w io.Writer, sheet dataset.Sheet, keys []int) error {
	if err := sheet.Check(); err != nil {
		return err
	}
	width, lowest := sheet.Shape.Width, lowestPiano
	for _, values := range sheet.Values {
		for _, v := range values {
			if v < 0 || v > 1 {
				return fmt.Errorf("a unit has the value %v: only units from 0 to 1 can be played", v)
			}
		}
	}
	switch {
	case width > notes:
		return fmt.Errorf("steps have %d units, and MIDI has %d notes: give sequences of at most as many units", width, notes)
	case keys != nil && (width != keys[1]-keys[0]+1 || keys[1] >= notes):
		return fmt.Errorf("steps have %d units, but the data have the keys %v, and MIDI has the keys 0 to %d: draw the units of the data, and give the data keys in this range", width, keys, notes-1)
	case keys != nil:
		lowest = keys[0]
	case width != pianoKeys:
		lowest = max(0, middleC-width/2)
	}
	track := []byte{0, 0xFF, 0x51, 3, 0x07, 0xA1, 0x20} // 500,000 µs per quarter note
	since := 0                                          // ticks since the last event
	event := func(kind, unit, strength int) {
		track = append(track, variable(since)...)
		track = append(track, byte(kind), byte(lowest+unit), byte(strength))
		since = 0
	}
	sounds := make([]bool, width)
	play := func(step []float64) {
		for unit, v := range step {
			switch on := v > 0.5; {
			case on && !sounds[unit]:
				event(noteOn, unit, velocity)
				sounds[unit] = true
			case !on && sounds[unit]:
				event(noteOff, unit, 0)
				sounds[unit] = false
			}
		}
		since += ticksPerStep
	}
	silence := make([]float64, width)
	for _, values := range sheet.Values {
		for t := range sheet.Shape.Height {
			play(values[t*width : (t+1)*width])
		}
		for range restSteps {
			play(silence)
		}
	}
	track = append(append(track, variable(since)...), 0xFF, 0x2F, 0)
	file := append([]byte("MThd"), 0, 0, 0, 6, 0, 0, 0, 1, ticksPerStep>>8, ticksPerStep&0xFF)
	file = binary.BigEndian.AppendUint32(append(file, "MTrk"...), uint32(len(track)))
	_, err := w.Write(append(file, track...))
	return err
}

// variable encodes a number as MIDI encodes times: 7 bits per byte, the highest first, and the top bit set in all
// bytes but the last.
func variable(n int) []byte {
	b := []byte{byte(n & 0x7F)}
	for n >>= 7; n > 0; n >>= 7 {
		b = append([]byte{byte(n&0x7F | 0x80)}, b...)
	}
	return b
}
