package deterministic

import (
	"slices"
	"strings"
	"testing"
)

func TestNewMachinesAreReproducible(t *testing.T) {
	a, b := newMachine(t, NoisyOr, 1, 4, 3, 2), newMachine(t, NoisyOr, 1, 4, 3, 2)
	if !slices.Equal(a.Flat, b.Flat) {
		t.Error("the same seed gives other parameters")
	}
	if slices.Equal(a.Flat, newMachine(t, NoisyOr, 2, 4, 3, 2).Flat) {
		t.Error("another seed gives the same parameters")
	}
}

// Changing the arguments afterwards must not change a machine or an experiment.
func TestMachinesAndExperimentsKeepTheirUnits(t *testing.T) {
	units := []int{9, 3}
	m, err := New(Logistic, 1, units...)
	if err != nil {
		t.Fatal(err)
	}
	e := NewExperiment(patterns(t), Logistic, units...)
	units[0], units[1] = 7, 7
	if want := []int{9, 3}; !slices.Equal(m.Units, want) || !slices.Equal(e.Settings.Machine.Layers, want) {
		t.Errorf("a machine of %v units, and an experiment of %v, want %v", m.Units, e.Settings.Machine.Layers, want)
	}
}

// Every parameter must belong to one layer: writing through the layers must reach each element of
// the flat buffer once.
func TestLayersCoverTheFlatParameters(t *testing.T) {
	p := newMachine(t, Logistic, 1, 4, 3, 2).NewGradient()
	for _, layer := range slices.Concat(p.Recognition, p.Generative) {
		if len(layer.Weights) != layer.Units*layer.Parents || len(layer.Biases) != layer.Units {
			t.Errorf("%d weights and %d biases for %d units with %d parents", len(layer.Weights), len(layer.Biases), layer.Units, layer.Parents)
		}
		for j := range layer.Units {
			for k := range layer.Row(j) {
				layer.Row(j)[k]++
			}
			layer.Biases[j]++
		}
	}
	for i, n := range p.Flat {
		if n != 1 {
			t.Errorf("parameter %d belongs to %v layers", i, n)
		}
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	for _, c := range []struct {
		want       string
		activation Activation
		units      []int
	}{
		{"unknown activation 7: use logistic, noisy-or or printed-product", 7, []int{2, 1}},
		{"at least one hidden layer", Logistic, []int{2}},
		{"layer 1 has 0 units", Logistic, []int{2, 0, 1}},
		{"layer 2 has 1099511627776 units", Logistic, []int{2, 1, 1 << 40}},
	} {
		if _, err := New(c.activation, 1, c.units...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that says %q", err, c.want)
		}
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	m := newMachine(t, Logistic, 1, 3, 2)
	for name, misuse := range map[string]func(){
		"FreeEnergy": func() { m.FreeEnergy([]float64{1}) },
		"Generate":   func() { m.Generate(0, []float64{1, 0, 1}) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "deterministic: ") {
					t.Errorf("%s panics with %q", name, s)
				}
			}()
			misuse()
		}()
	}
}
