package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"

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
	fmt.Println(set.Train().Bytes(), set.Test().Bytes())
	// Output: [0 255 255 255 0 0] [0 255 255]
}

// Masks mark the pixels that a model is to fill in.
func ExampleParseMask() {
	mask, err := dataset.ParseMask("rectangle:0,1,2,2", dataset.Shape{Height: 3, Width: 3}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mask)
	// Output: [false true true false true true false false false]
}

// Subset draws rows by a seed: the same for the same seed.
func ExampleSplit_Subset() {
	set, err := dataset.Open("3by3")
	if err != nil {
		fmt.Println(err)
		return
	}
	few := set.Test().Subset(4, 1)
	fmt.Println(few.Rows, "rows of", few.Shape)
	for _, row := range few.Floats() {
		fmt.Println(row)
	}
	// Output:
	// 4 rows of 3×3
	// [0 1 0 0 1 0 0 1 0]
	// [1 1 0 1 1 0 1 1 0]
	// [1 0 0 1 0 0 1 0 0]
	// [0 0 1 0 0 1 0 0 1]
}

// A table has columns, each of one or several units. Open infers their kinds.
func ExampleSet_Columns() {
	dir, err := os.MkdirTemp("", "table")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.csv")
	text := "smokes,town\n0,Rome\n1,Oslo\n0,Oslo\n1,Rome\n0,Lima\n1,Lima\n0,Rome\n1,Oslo\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	set, err := dataset.Spec{Name: path, Validation: new(2)}.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range set.Columns() {
		fmt.Println(c)
	}
	// Output:
	// smokes: binary, 1 unit (0, 1)
	// town: categorical, 3 units (Lima, Oslo, Rome)
}
