package dataset_test

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
)

func ExampleOpen() {
	patterns, err := dataset.Open("3by3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(patterns.Name(), patterns.Shape(), patterns.Train().Rows, patterns.Test().Rows)
	// Output: 3by3 3×3 18000 18
}

func ExampleSpec() {
	digits, err := dataset.Spec{Name: "glyphs", Validation: new(500), Subset: 2000, Seed: 3}.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(digits.Train().Rows, digits.Validation().Rows, digits.Test().Rows)
	// Output: 2000 500 2000
}

func ExampleFromRows() {
	set, err := dataset.FromRows("mine", dataset.Shape{Height: 1, Width: 3},
		[][]float64{{0, 1, 1}, {1, 0, 0.2}}, // training rows
		[][]float64{{0, 1, 0.9}},            // test rows
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Train().Values, set.Test().Values)
	// Output: [0 255 255 255 0 0] [0 255 255]
}
