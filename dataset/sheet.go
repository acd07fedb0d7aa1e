package dataset

// Sheet is a set of images: expected values or draws of visible units.
type Sheet struct {
	Shape  Shape
	Values [][]float64 // an image a row, the probability of each unit, in [0, 1], or the value of a Gaussian one
}
