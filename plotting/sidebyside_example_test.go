package plotting_test

import (
	"log"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// This example has invented images: frames whose right half is missing and is filled in with a
// grey.
func ExampleInpainting() {
	shape := dataset.Shape{Height: 10, Width: 8}
	sheet := func(missing float64) dataset.Sheet {
		s := dataset.Sheet{Shape: shape}
		for i := range 4 {
			image := make([]float64, shape.Units())
			for pixel := range image {
				row, column := pixel/shape.Width, pixel%shape.Width
				if row == i || row == 9-i || column == i || column == 7-i {
					image[pixel] = 1
				}
				if column >= 4 && missing >= 0 {
					image[pixel] = missing
				}
			}
			s.Values = append(s.Values, image)
		}
		return s
	}
	p := dataset.Inpainting{Originals: sheet(-1), Corrupted: sheet(0.5), Images: []dataset.Sheet{sheet(0.2), sheet(0.8), sheet(1)}}
	if err := plotting.Inpainting(p).Size(5, 3).Save("inpainting.png"); err != nil {
		log.Fatal(err)
	}
}

func TestInpainting(t *testing.T) { golden(t, ExampleInpainting, "inpainting.png") }
