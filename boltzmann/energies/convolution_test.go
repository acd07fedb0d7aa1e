package energies

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Without pooling, a convolutional RBM of two images is an RBM whose weights are tied: entry by entry, its inputs, free
// energy and gradient equal what the dense matrix gives.
func TestConvolutionIsATiedRBM(t *testing.T) {
	e, err := newConvolution(Convolution{Filters: 3, Window: 3, Pool: 1}, dataset.Shape{Height: 5, Width: 4}, 2)
	if err != nil {
		t.Fatal(err)
	}
	random(e, 0.7, 1)
	const hidden = 3 * 3 * 2
	dense := mat.NewDense(hidden, 40, nil)
	bias := make([]float64, hidden)
	tied := map[[2]int]int{} // the weight of each entry
	for k := range 3 {
		for i := range 3 {
			for j := range 2 {
				h := k*6 + i*2 + j
				bias[h] = e.hidden[k]
				for channel := range 2 {
					for r := range 3 {
						for c := range 3 {
							v, w := channel*20+(i+r)*4+j+c, k*18+channel*9+r*3+c
							dense.Set(h, v, e.weights[w])
							tied[[2]int{h, v}] = w
						}
					}
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		v := make([]float64, 40)
		bernoullis(v, r)
		inputs := append([]float64(nil), bias...)
		times(inputs, dense, v)
		free, want := -floats.Dot(e.visible, v), make([]float64, 54)
		for h, input := range inputs {
			free -= statistics.Softplus(input)
			for i, on := range v {
				if w, is := tied[[2]int{h, i}]; is {
					want[w] -= on * statistics.Sigmoid(input)
				}
			}
		}
		near(t, "F(v)", e.FreeEnergy(v), free, 1e-12)
		to := [][]float64{make([]float64, 54), make([]float64, 3), make([]float64, 40), nil}
		e.Gradient(to, 1, v)
		for w, g := range to[0] {
			near(t, "∂F/∂W", g, want[w], 1e-12)
		}
	}
}

// log Z by AIS, with the detection units summed out, agrees with a sum over all images of 4×4.
func TestConvolutionAnneals(t *testing.T) {
	e := conv(t, Convolution{Filters: 1, Window: 3, Pool: 2}, dataset.Shape{Height: 4, Width: 4})
	if !e.exact() {
		t.Fatal("16 pixels are not enumerable")
	}
	z, err := anneal(t.Context(), e, make([]float64, 16), 20, usualSchedule, 1, philox.Counter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log Z", float64(z.Value), e.LogZ(nil), 3*float64(z.SE))
	for chains, says := range map[int]string{0: "0 chains of annealing: give at least 2", 1: "1 chain of annealing: give at least 2"} {
		if _, err := anneal(t.Context(), e, make([]float64, 16), chains, usualSchedule, 1, philox.Counter{}, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error of %d chains is %v, want %q in it", chains, err, says)
		}
	}
}

// A block is on as often as one of its detection units is, and never twice.
func TestBlocksAreDrawn(t *testing.T) {
	e := conv(t, Convolution{Filters: 2, Window: 2, Pool: 2}, dataset.Shape{Height: 5, Width: 5})
	r, v := rand.New(rand.NewPCG(1, 3)), make([]float64, 25)
	bernoullis(v, r)
	on, _ := e.up(e.patches(v))
	want, got := make([]float64, 8), make([]float64, 8)
	for k := range 2 {
		for p, mean := range on.RawRowView(k) {
			want[k*4+p/8*2+p%4/2] += mean
		}
	}
	const draws = 4000
	for range draws {
		for i, is := range e.pools(v, r) {
			if is != 0 && is != 1 {
				t.Fatalf("block %d has the value %v", i, is)
			}
			got[i] += is / draws
		}
	}
	for i, p := range want {
		near(t, "the share of draws with a block on", got[i], p, 4*math.Sqrt(p*(1-p)/draws))
	}
}

// If the first filters are single pixels, the projection is the weights of the blocks, each as large as a block.
func TestProjectionIsASumOfFilters(t *testing.T) {
	e := conv(t, Convolution{Filters: 2, Window: 3, Pool: 2}, dataset.Shape{Height: 8, Width: 8})
	clear(e.weights)
	e.weights[4], e.weights[9+4] = 1, 10 // the middle of each filter
	above, err := newConvolution(Convolution{Filters: 1, Window: 2, Pool: 1}, e.pooled(), 2)
	if err != nil {
		t.Fatal(err)
	}
	copy(above.weights, []float64{1, 2, 3, 4, 5, 6, 7, 8})
	shape, images := e.project(above)
	if want := (dataset.Shape{Height: 6, Width: 6}); shape != want {
		t.Fatalf("the images are %v, not %v", shape, want)
	}
	for y := range 4 {
		for x := range 4 {
			at := y/2*2 + x/2
			near(t, "a pixel", images[0][(y+1)*6+x+1], float64(1+at)+10*float64(5+at), 1e-12)
		}
	}
}

func TestPoolsThatDoNotFitAreRefused(t *testing.T) {
	_, err := newConvolution(Convolution{Filters: 1, Window: 5, Pool: 3}, dataset.Shape{Height: 14, Width: 14}, 1)
	want := "pool = 3 does not divide the 10×10 positions of a filter of 5×5 in images of 14×14: give a pool of 1, 2, 5, 10, or a window of 3, 6, 9, 12"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
