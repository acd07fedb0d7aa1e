package plotting_test

import (
	"log"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// This example has invented images: ramps of grey with one moving white pixel.
func ExampleSamples() {
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: 8, Width: 8}}
	for i := range 30 {
		image := make([]float64, 64)
		for pixel := range image {
			image[pixel] = float64(pixel/8) / 9
		}
		image[i] = 1
		sheet.Values = append(sheet.Values, image)
	}
	if err := plotting.Samples(sheet).Save("samples.png"); err != nil {
		log.Fatal(err)
	}
}

func TestSamples(t *testing.T) { golden(t, ExampleSamples, "samples.png") }
