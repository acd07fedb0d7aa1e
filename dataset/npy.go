package dataset

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// readNPY reads a NumPy array of numbers or truth values, in C or Fortran order. It reads at most one byte beyond
// the data that the header claims.
func readNPY(r io.Reader) (tensor, error) {
	header, length, err := npy.ReadHeader(r)
	if err != nil {
		return tensor{}, err
	}
	kind := npy.Kind(header.Type)
	of, known := npy.Numbers[kind]
	if !known {
		remedy := "save it as an array of numbers"
		if kind == "O" {
			remedy = "an array of Python objects can only be read by Python; save a.astype(float)"
		}
		return tensor{}, fmt.Errorf("the NPY array has type %q; one of %s is needed: %s", header.Type, strings.Join(slices.Sorted(maps.Keys(npy.Numbers)), ", "), remedy)
	}
	a := tensor{size: header.Shape, truth: kind == "b1"}
	if len(a.size) == 0 || len(a.size) > 4 {
		return a, fmt.Errorf("the NPY array has shape %v; rows × units or rows × height × width is needed", a.size)
	}
	in := r
	if header.Fortran {
		in = struct{ io.Reader }{r} // hides the type *input, so that read does not pack the rows
	}
	got, err := a.read(in, length, kind, npy.Order(header.Type))
	switch claim := of.Width * product(a.size); {
	case err != nil:
	case got < claim:
		err = fmt.Errorf("the file ends after %d bytes of data, but an NPY array of type %s and shape %v has %d", got, header.Type, a.size, claim)
	case got > claim:
		err = fmt.Errorf("the file continues after the %d bytes of data of an NPY array of type %s and shape %v", claim, header.Type, a.size)
	}
	if err != nil {
		return tensor{}, fmt.Errorf("NPY array: %w", err)
	}
	if header.Fortran {
		a = a.transposed()
	}
	return a, nil
}
