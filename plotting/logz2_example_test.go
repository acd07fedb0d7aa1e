package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// madeUpLogZ2 has ten repeats: damped waves around a curve that rises to −2 nats, with the given
// initial size.
func madeUpLogZ2(inner int, size float64) hm.LogZ2 {
	z := hm.LogZ2{Inner: inner, Value: -2, SE: 0.013}
	for outer := 1.0; outer < 2e6; outer *= 1.3 {
		z.Outer = append(z.Outer, int(math.Ceil(outer)))
	}
	for r := range 10 {
		var repeat []float64
		for _, n := range z.Outer {
			wave := math.Cos(math.Log(float64(n)) + 2*math.Pi*float64(r)/10)
			repeat = append(repeat, -2+size*(3*wave-1)/math.Cbrt(float64(n)))
		}
		z.Repeats = append(z.Repeats, repeat)
	}
	return z
}

func ExampleLogZ2() {
	if err := plotting.LogZ2(madeUpLogZ2(10, 1)).Save("logz2.png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleLogZ2_several() {
	figure := plotting.LogZ2(madeUpLogZ2(1, 1.5), madeUpLogZ2(10, 1), madeUpLogZ2(100, 0.8))
	if err := figure.Save("logz2s.png"); err != nil {
		log.Fatal(err)
	}
}

// More inner samples need fewer outer ones for the same accuracy, but not less effort.
func ExampleLogZ2ByTotal() {
	figure := plotting.LogZ2ByTotal(madeUpLogZ2(1, 1.5), madeUpLogZ2(10, 1), madeUpLogZ2(100, 0.8))
	if err := figure.Save("logz2bytotal.png"); err != nil {
		log.Fatal(err)
	}
}

func TestLogZ2(t *testing.T)        { golden(t, ExampleLogZ2, "logz2.png") }
func TestLogZ2Several(t *testing.T) { golden(t, ExampleLogZ2_several, "logz2s.png") }
func TestLogZ2ByTotal(t *testing.T) { golden(t, ExampleLogZ2ByTotal, "logz2bytotal.png") }
