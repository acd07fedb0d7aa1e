package fisher

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/mat"
)

// Applied to the gradients of whole variables, the inverse of their joint blocks must solve the dense
// system (αI + F) x = (1+α) g, with F summed from the covariances of the scores in double precision.
func TestCategoricalBlocksSolveTheDenseSystem(t *testing.T) {
	const n, size, damping = 40, 3, 0.05
	groups := []int{2, 1, 4}
	rng := rand.New(rand.NewPCG(1, 5))
	c := Categories{kernels.NewMatrix(n, size), kernels.NewMatrix(n, 7), make([]float32, n), kernels.NewMatrix(n, 7)}
	for r := range n {
		c.SampleWeights[r] = rng.Float32() / n
		for k, u := range []float32{1, rng.Float32(), -rng.Float32()} {
			kernels.Row(c.Parents, r)[k] = u
		}
		for j := range 7 { // the probabilities of a variable sum to less than 1: it has a rest
			kernels.Row(c.Probabilities, r)[j] = rng.Float32() / 4
		}
		kernels.Row(c.Information, r)[2] = 5 * rng.Float32() // of the variable of one unit, which is of another kind
	}
	gradients := kernels.NewMatrix(7, size)
	for k := range gradients.Data {
		gradients.Data[k] = float32(rng.NormFloat64())
	}
	got := kernels.Clone(gradients)
	for _, s := range []Settings{{Damping: damping, Precision: Float32, Groups: groups}, {Damping: damping, Precision: Int16, Groups: groups}} {
		copy(got.Data, gradients.Data)
		v, err := NewCategorical(c, s, inTurn)
		if err != nil {
			t.Fatal(err)
		}
		if announced := s.Bytes(n, size, 7); v.Bytes() != int64(announced) {
			t.Errorf("the inverses take %d bytes, announced were %v", v.Bytes(), announced)
		}
		v.Apply(kernels.Rows(got, 0, 3), 0) // two variables, and then the third
		v.Apply(kernels.Rows(got, 3, 7), 3)
		first := 0
		for _, units := range groups {
			system := mat.NewDense(units*size, units*size, nil)
			for i := range units * size {
				system.Set(i, i, damping)
			}
			for r := range n {
				π, u := kernels.Row(c.Probabilities, r)[first:], kernels.Row(c.Parents, r)
				for j := range units {
					for k := range units {
						covariance := -float64(π[j]) * float64(π[k])
						if j == k {
							covariance += float64(π[j])
						}
						if units == 1 {
							covariance = float64(kernels.Row(c.Information, r)[first])
						}
						for a := range size {
							for b := range size {
								row, column := j*size+a, k*size+b
								system.Set(row, column, system.At(row, column)+float64(c.SampleWeights[r])*covariance*float64(u[a])*float64(u[b]))
							}
						}
					}
				}
			}
			g, want := mat.NewVecDense(units*size, nil), mat.NewVecDense(units*size, nil)
			for i := range units * size {
				g.SetVec(i, (1+damping)*float64(gradients.Data[first*size+i]))
			}
			if err := want.SolveVec(system, g); err != nil {
				t.Fatal(err)
			}
			for i := range units * size {
				if x := float64(got.Data[first*size+i]); !(math.Abs(x-want.AtVec(i)) <= 2e-3*(1+math.Abs(want.AtVec(i)))) {
					t.Errorf("precision %v, variable of %d units: number %d is %v, want %v", s.Precision, units, i, x, want.AtVec(i))
				}
			}
			first += units
		}
	}
	c.Probabilities.Data[0] = float32(math.NaN())
	if _, err := NewCategorical(c, Settings{Damping: damping, Groups: groups}, nil); err == nil {
		t.Error("blocks of NaN are inverted")
	}
}
