package dataset

// Sheet is a set of images: expected values or draws of visible units.
type Sheet struct {
	Shape  Shape
	Values [][]float64 // an image a row, the probability of each unit, in [0, 1], or the value of a Gaussian one
}

// Inpainting is what a model makes of images of which a part is missing.
type Inpainting struct {
	Originals Sheet
	Corrupted Sheet // with missing pixels half on, a grey
	// Images are the last states of the chains: what is known as it was, and the expected
	// values of what was missing. Images[c] holds chain c of each original.
	Images []Sheet
}
