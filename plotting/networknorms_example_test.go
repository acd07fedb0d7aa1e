package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// This example has invented runs without and with a regulariser: the weights grow with the square
// root of the epoch, or to a limit.
func ExampleNetworkNorms() {
	run := func(name string, weights, gradient func(epoch float64) float64) runs.History {
		h := runs.History{Name: name}
		for e := 1.0; e <= 40; e++ {
			layers := func(scale float64) []runs.LayerNorms {
				layer := func(size float64) runs.LayerNorms {
					g := size * gradient(e)
					return runs.LayerNorms{Weights: size * weights(e), Gradient: g, Direction: g}
				}
				return []runs.LayerNorms{layer(10 * scale), layer(4 * scale)}
			}
			h.Epochs = append(h.Epochs, runs.Epoch{
				Epoch: int(e),
				Norms: runs.Norms{hm.Generative: layers(1), hm.Recognition: layers(0.6)},
			})
		}
		return h
	}
	plain := run("RWS", math.Sqrt, func(e float64) float64 { return 0.1 + 0.5*math.Exp(-e/10) })
	regularized := run("RWS, L2 of 0.0001",
		func(e float64) float64 { return 1 + 2*(1-math.Exp(-e/10)) },
		func(e float64) float64 { return 0.2 + 0.4*math.Exp(-e/5) })
	if err := plotting.NetworkNorms(plain, regularized).Save("networknorms.png"); err != nil {
		log.Fatal(err)
	}
}

func TestNetworkNorms(t *testing.T) { golden(t, ExampleNetworkNorms, "networknorms.png") }
