package hm

import (
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

func FuzzConvolution(f *testing.F) {
	for _, text := range []string{"8@4x4/2", "q:1@2x3/1", "p:12@1x1/1", "", "8@4x4", "r:8@4x4/2", "-1@2x2/1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c, again Convolution
		if c.UnmarshalText([]byte(text)) != nil {
			return
		}
		written, err := c.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(written); err != nil || again != c {
			t.Errorf("%q is read as %v, and what that writes as %v, %v", text, c, again, err)
		}
	})
}

// Impossible machines must be refused with the reason and the remedy, and so must units that do not
// suit the data or the method.
func TestCheckRefusesMachines(t *testing.T) {
	images, gray := patterns(t), grays(t)
	flat, err := dataset.FromRows("flat", shape(1, 9), [][]float64{make([]float64, 9), make([]float64, 9)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	machine := New(images.Shape()).Dense(4)
	window := func(size, stride int) Machine {
		return machine.Convolve(Convolution{Channels: 2, Height: size, Width: size, Stride: stride})
	}
	for _, test := range []struct {
		name    string
		method  Method
		machine Machine
		set     *dataset.Set
		says    []string
	}{
		{"convolution without images", NRWS(), window(2, 1), flat, []string{"2@2x2/1", "flat", "not images", "1×9", "dense layers"}},
		{"stride that does not fit", NRWS(), window(2, 2), images, []string{"2@2x2/2", "stride 2", "3×3", "windows of 3×3"}},
		{"window that is too large", NRWS(), window(4, 1), images, []string{"window of 4×4", "3×3", "smaller"}},
		{"second window that is too large", NRWS(), window(3, 1).Convolve(Convolution{1, 2, 2, 1, BothNetworks}), images, []string{"hidden layer 2", "grid of 1×1"}},
		{"stride 0", NRWS(), window(2, 0), images, []string{"stride 0", "at least 1"}},
		{"no channels", NRWS(), machine.Convolve(Convolution{Height: 1, Width: 1, Stride: 1}), images, []string{"0 channels", "at least 1"}},
		{"units of too few layers", NRWS(), machine.Dense(3).Units(Bernoulli, Bernoulli), images, []string{"units of 2 layers", "machine of 3", "one for each"}},
		{"unknown units", NRWS(), machine.Units(7), images, []string{"unit"}},
		{"Bernoulli units for grey levels", NRWS(), machine, gray, []string{"visible Bernoulli units", "stochastic", "gaussian"}},
		{"Gaussian units for binary data", NRWS(), machine.Units(Gaussian), images, []string{"visible Gaussian units", "fixed", "grey"}},
		{"entropy of Gaussian units", NRWS().Entropy(1), machine.Units(Gaussian), gray, []string{"entropy", "unbounded"}},
	} {
		test.machine.shape = test.set.Shape()
		err := test.method.BatchSize(1).Experiment(test.machine, test.set).Check(test.set)
		if err == nil {
			t.Errorf("%s is accepted", test.name)
			continue
		}
		for _, part := range test.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error %q does not say %q", test.name, err, part)
			}
		}
	}
}

// A convolution in q only must leave p dense, and vice versa.
func TestConvolutionInOneNetwork(t *testing.T) {
	for networks, want := range map[Networks][2]int{ // widths of q(h¹|x) and p(x|h¹)
		BothNetworks: {1 + 4, 1 + 4*2}, RecognitionOnly: {1 + 4, 1 + 8}, GenerativeOnly: {1 + 9, 1 + 4*2},
	} {
		a := New(shape(3, 3)).Convolve(Convolution{2, 2, 2, 1, networks}).Architecture()
		q, p := engine.Recognition.Connection(a, 1), engine.Generative.Connection(a, 0)
		if a.Units[1] != 8 || q.Inputs != want[0] || p.Inputs != want[1] {
			t.Errorf("networks %d: %d units, inputs %d and %d, want 8, %v", networks, a.Units[1], q.Inputs, p.Inputs, want)
		}
	}
}

// Gaussian units must start with means of bias 0 and deviations that depend only on their biases.
func TestGaussianUnitsStartWithConstantDeviations(t *testing.T) {
	a := New(shape(3, 3)).Dense(4).Units(Gaussian).Architecture()
	p := initialize(a, MachineSpec{Bias: -2}, 1)
	for i, layer := range []engine.Layer{p.Generative[0], p.Generative[1], p.Recognition[1]} {
		means := layer.Units / 2
		for j := range layer.Units {
			row := layer.Row(j)
			sum := 0.0
			for _, w := range row[1:] {
				sum += math.Abs(float64(w))
			}
			if mean := j < means; mean && (row[0] != 0 || sum == 0 && len(row) > 1) || !mean && (row[0] != -2 || sum != 0) {
				t.Errorf("layer %d, row %d of %d starts as %v", i, j, layer.Units, row)
			}
		}
	}
}

// A model of grey levels must reconstruct, sample, encode, evaluate and survive saving. Its exact
// divergence must be refused.
func TestModelOfGrayLevels(t *testing.T) {
	set := grays(t)
	run, err := short(NRWS()).LearningRate(0.001).Train(t.Context(), machineFor(set), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	encoding, err := run.Encode(t.Context(), set.Test(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if encoding.Values[0] != nil || encoding.States[1] != nil || len(encoding.Values[1]) != 2*set.Test().Rows {
		t.Error("the layers of the encoding are not of the kinds of the machine")
	}
	rows, _, err := run.Reconstruct(t.Context(), set.Test(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if part := run.Subset(set.Test(), 3); rows.Values[2][1] != float64(part.Row(2)[1])/255 {
		t.Error("the rows are not those of the set")
	}
	draws, err := run.Draw(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	fractional := false
	for _, image := range draws.Values {
		for _, v := range image {
			fractional = fractional || v != math.Round(v)
		}
	}
	if !fractional {
		t.Error("draws of Gaussian units are whole numbers")
	}
	missing := make(dataset.Mask, 9)
	missing[0] = true
	inpainted, err := run.Inpaint(t.Context(), run.Subset(set.Test(), 2), missing, 1, Chain{Sweeps: 1, Candidates: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := inpainted.Images[0].Values[1][4], inpainted.Originals.Values[1][4]; !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("a known pixel of %v is inpainted as %v", want, got)
	}
	if _, err := run.ExactKL(t.Context(), set.Test()); err == nil || !strings.Contains(err.Error(), "Evaluate") {
		t.Errorf("the exact divergence of a machine with Gaussian units gives the error %v", err)
	}
	before, err := run.Evaluate(t.Context(), set.Test(), 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenRun(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	after, err := again.Evaluate(t.Context(), set.Test(), 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	if before.LogP != after.LogP || math.IsNaN(before.LogP) {
		t.Errorf("log p is %v, after opening the run again %v", before.LogP, after.LogP)
	}
}
