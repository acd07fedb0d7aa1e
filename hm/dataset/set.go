// Package dataset opens the data sets that Helmholtz machines learn: named
// ones, synthetic ones and one's own.
package dataset

// Shape is how the visible units of a row form an image. Data without image
// shape has height 1.
type Shape struct {
	Height, Width int
}

// Units is the number of visible units.
func (s Shape) Units() int { return s.Height * s.Width }

// Split is a part of a data set: training, validation or test rows.
type Split struct {
	Name   string // "train", "validation" or "test"
	Shape  Shape
	Rows   int
	Values []uint8 // Rows × Shape.Units(), row-major: v/255 is the probability that the unit is on
	Labels []uint8 // class of each row; nil where there is none
}

// Row returns the values of row i.
func (s Split) Row(i int) []uint8 {
	n := s.Shape.Units()
	return s.Values[i*n : (i+1)*n]
}
