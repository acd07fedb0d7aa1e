package energies

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Old runs resume in their own arithmetic: gradients and chains have the bytes that they had when the runs began. The
// bytes need amd64 processors with fused multiply-add, which the exponentials of the standard library use.
func TestBytesOfOldRuns(t *testing.T) {
	if runtime.GOARCH != "amd64" || !slices.Contains(kernels.InstructionSets(), "avx2") {
		t.Skip("the bytes need amd64 with fused multiply-add")
	}
	defer kernels.SetInstructionSet(kernels.InstructionSet())
	if err := kernels.SetInstructionSet("portable"); err != nil {
		t.Fatal(err)
	}
	half, err := dataset.ParseMask("left", dataset.Shape{Height: 7, Width: 9}, 1)
	if err != nil {
		t.Fatal(err)
	}
	covariances := func(gamma bool) energy { return newMeanCovariance(MeanCovariance{33, 21}, 63, gamma) }
	for _, c := range []struct {
		e    energy
		want string
	}{
		{conv(t, Convolution{Filters: 5, Window: 4, Pool: 2}, dataset.Shape{Height: 7, Width: 9}), "1d89d6a4f4de5ec3"},
		{newSpikeAndSlab(37, 63), "4a524e6a372a5118"},
		{covariances(false), "ca8cb1cea3b3aa03"},
		{covariances(true), "442fd612fe14bd26"},
		{newConditional(40, half, false), "c62ee05008fbbb95"},
		{newConditional(40, half, true), "1c22779a66bec3b4"},
		{newGated(Gated{Hidden: 19, Factors: 23}, half), "de26f94007833d4c"},
	} {
		random(c.e, 0.2, 1)
		h := sha256.New()
		write := func(values []float64) {
			if err := binary.Write(h, binary.LittleEndian, values); err != nil {
				t.Fatal(err)
			}
		}
		var rows [][]float64
		var draws []*rand.Rand
		for r := range 30 {
			x := make([]float64, 63)
			for i := range x {
				x[i] = float64(i * r % 2)
			}
			rows, draws = append(rows, x), append(draws, rand.New(philox.Key(3).Stream(philox.Counter{Datum: uint32(r)})))
			write([]float64{c.e.Base(x, draws[r])})
		}
		for sweep := range 3 {
			var to [][]float64
			for _, p := range c.e.Parameters() {
				to = append(to, make([]float64, p.Size()))
			}
			c.e.Products().Gradients(to, 1.0/7, rows)
			write(slices.Concat(to...))
			write(c.e.Products().Sweeps(rows, draws, sweep == 2))
			write(slices.Concat(rows...))
			for _, x := range rows {
				write([]float64{c.e.FreeEnergy(x)})
			}
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != c.want {
			t.Errorf("%T: the bytes have the hash %s, want %s", c.e, got, c.want)
		}
	}
}
