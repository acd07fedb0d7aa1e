package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// Ten made-up repeats: damped waves around a curve that rises to −2 nats.
func ExampleLogZ2() {
	z := hm.LogZ2{Inner: 10, Value: -2, SE: 0.013}
	for outer := 1.0; outer < 2e6; outer *= 1.3 {
		z.Outer = append(z.Outer, int(math.Ceil(outer)))
	}
	for r := range 10 {
		var repeat []float64
		for _, n := range z.Outer {
			wave := math.Cos(math.Log(float64(n)) + 2*math.Pi*float64(r)/10)
			repeat = append(repeat, -2+(3*wave-1)/math.Cbrt(float64(n)))
		}
		z.Repeats = append(z.Repeats, repeat)
	}
	if err := plotting.LogZ2(z).Save("logz2.png"); err != nil {
		log.Fatal(err)
	}
}

func TestLogZ2(t *testing.T) { golden(t, ExampleLogZ2, "logz2.png") }
