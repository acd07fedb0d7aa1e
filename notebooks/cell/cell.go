// Package cell provides what the cells of a notebook need besides the library: a short way to
// end the cell on an error, a context that an interrupt cancels, and what would be long in a cell.
//
//	run := cell.Must(nrws.Train(cell.Context(), machine, digits, "runs/first"))
//
// In GoNB each cell is a separate program. Ending the cell ends that program, but training runs
// in the background, in the session of the kernel Go (Helmholtz), continue.
package cell

import (
	"cmp"
	"context"
	"log"
	"os"
	"os/signal"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Context returns a context that an interrupt of the notebook cancels. Training then stops
// with a checkpoint, and running the same cell again resumes it.
func Context() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	return ctx
}

// Check ends the cell with the error, if there is one.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Must returns the value, or ends the cell with the error.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Must2 returns two values, or ends the cell with the error.
func Must2[S, T any](first S, second T, err error) (S, T) {
	Check(err)
	return first, second
}

// Nearest returns which of some rows of a split differs from an image in the fewest pixels, all rounded to black or
// white. It returns the first such row.
func Nearest(split dataset.Split, rows []int, image []uint8) int {
	differ := func(row int) (n int) {
		for i, value := range split.Row(row) {
			if value>>7 != image[i]>>7 {
				n++
			}
		}
		return n
	}
	return slices.MinFunc(rows, func(a, b int) int { return cmp.Compare(differ(a), differ(b)) })
}
