package plotting_test

import (
	"log"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// This example has two sequences of 24 steps: a scale with a bass of long notes, and chords that fade.
func ExamplePianoRolls() {
	const steps, keys = 24, 88
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: steps, Width: keys}}
	scale, chords := make([]float64, steps*keys), make([]float64, steps*keys)
	for t := range steps {
		scale[t*keys+39+[]int{0, 2, 4, 5, 7, 9, 11, 12}[t%8]] = 1
		scale[t*keys+27-5*(t/8%2)] = 1
		for _, key := range []int{39, 43, 46} {
			chords[t*keys+key+2*(t/6)] = 1 - float64(t%6)/6
		}
	}
	sheet.Values = [][]float64{scale, chords}
	if err := plotting.PianoRolls(sheet).Save("pianorolls.png"); err != nil {
		log.Fatal(err)
	}
}

func TestPianoRolls(t *testing.T) { golden(t, ExamplePianoRolls, "pianorolls.png") }
