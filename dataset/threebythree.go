package dataset

import "slices"

// readThreeByThree makes the set of Várady 2025, Appendix A: the patterns of a 3×3
// grid in which some, but not all, of the rows are on (horizontal) or some, but
// not all, of the columns (vertical). A vertical pattern is twice as likely as
// a horizontal one. The test rows are the distribution itself: a row for each
// horizontal pattern, two for each vertical one.
func readThreeByThree(collection) (source, error) {
	patterns := threeByThree()
	return source{
		train: rows{shape: Shape{3, 3}, values: slices.Repeat(patterns, 1000)},
		test:  rows{shape: Shape{3, 3}, values: patterns},
	}, nil
}

func threeByThree() []uint8 {
	var horizontal, vertical []uint8
	for lines := 0b001; lines < 0b111; lines++ {
		for cell := range 9 {
			row, column := cell/3, cell%3
			horizontal = append(horizontal, 255*uint8(lines>>row&1))
			vertical = append(vertical, 255*uint8(lines>>column&1))
		}
	}
	return slices.Concat(horizontal, vertical, vertical)
}
