package energies

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Without pooling, a convolutional RBM is an RBM whose weights are tied: entry by entry, its inputs, free energy
// and gradient equal what the dense matrix gives.
func TestConvolutionIsATiedRBM(t *testing.T) {
	e := conv(t, Convolution{Filters: 3, Window: 3, Pool: 1}, dataset.Shape{Height: 5, Width: 4})
	const hidden = 3 * 3 * 2
	dense := mat.NewDense(hidden, 20, nil)
	bias := make([]float64, hidden)
	tied := map[[2]int]int{} // the weight of each entry
	for k := range 3 {
		for i := range 3 {
			for j := range 2 {
				h := k*6 + i*2 + j
				bias[h] = e.hidden[k]
				for r := range 3 {
					for c := range 3 {
						v := (i+r)*4 + j + c
						dense.Set(h, v, e.weights[k*9+r*3+c])
						tied[[2]int{h, v}] = k*9 + r*3 + c
					}
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		v := make([]float64, 20)
		bernoullis(v, r)
		inputs := append([]float64(nil), bias...)
		times(inputs, dense, v)
		free, want := -floats.Dot(e.visible, v), make([]float64, 27)
		for h, input := range inputs {
			free -= statistics.Softplus(input)
			for i, on := range v {
				if w, is := tied[[2]int{h, i}]; is {
					want[w] -= on * statistics.Sigmoid(input)
				}
			}
		}
		near(t, "F(v)", e.FreeEnergy(v), free, 1e-12)
		to := [][]float64{make([]float64, 27), make([]float64, 3), make([]float64, 20), nil}
		e.Gradient(to, 1, v)
		for w, g := range to[0] {
			near(t, "∂F/∂W", g, want[w], 1e-12)
		}
	}
}

// log Z by AIS, with the detection units summed out, agrees with a sum over all images of 4×4.
func TestConvolutionAnneals(t *testing.T) {
	e := conv(t, Convolution{Filters: 1, Window: 3, Pool: 2}, dataset.Shape{Height: 4, Width: 4})
	want, exact := e.LogZ(nil)
	if !exact {
		t.Fatal("16 pixels are not enumerable")
	}
	z, err := AIS(t.Context(), e, make([]float64, 16), 20, 1, philox.Counter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log Z", float64(z.Value), want, 3*float64(z.SE))
	if _, err := AIS(t.Context(), e, make([]float64, 16), 0, 1, philox.Counter{}, nil); err == nil || !strings.Contains(err.Error(), "0 chains of annealing: give at least 1") {
		t.Errorf("the error of 0 chains is %v", err)
	}
}

func TestPoolsThatDoNotFitAreRefused(t *testing.T) {
	_, err := newConvolution(Convolution{Filters: 1, Window: 5, Pool: 3}, dataset.Shape{Height: 14, Width: 14})
	want := "pool = 3 does not divide the 10×10 positions of a filter of 5×5 in images of 14×14: give a pool of 1, 2, 5, 10, or a window of 3, 6, 9, 12"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
