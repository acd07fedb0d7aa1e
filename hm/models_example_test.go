package hm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// trained returns a machine of digits of 14×14 pixels that comes with the library, and 200 test rows.
func trained() (*hm.Run, dataset.Split) {
	run := must(hm.OpenPretrained("miniglyphs-bihm"))
	return run, run.Subset(must(dataset.Open("miniglyphs")).Test(), 200)
}

// Evaluate estimates log p(x) from importance samples, and what follows from the same samples.
func ExampleModel_Evaluate() {
	run, rows := trained()
	e := must(run.Evaluate(context.Background(), rows, 200, nil))
	fmt.Printf("log p(x) %.1f ± %.1f nats, its bound %.0f\n", e.LogP, e.LogPSE, e.Bound)
	fmt.Printf("log p̃*(x) is below log p(x): %t\n", e.LogPTildeStar < e.LogP)
	// Output:
	// log p(x) -30.5 ± 0.5 nats, its bound -32
	// log p̃*(x) is below log p(x): true
}

// Convergence shows how the estimate of log p(x) rises with the number of samples.
func ExampleModel_Convergence() {
	run, rows := trained()
	c := must(run.Convergence(context.Background(), rows, 1, 10, 100))
	fmt.Printf("from %d to %d samples the estimate rises by %.1f nats\n", c.Samples[0], c.Samples[2], c.LogP[2]-c.LogP[0])
	// Output: from 1 to 100 samples the estimate rises by 1.4 nats
}

// The effective sample size is the fraction of the samples that count.
func ExampleModel_ImportanceWeights() {
	run, rows := trained()
	w := must(run.ImportanceWeights(context.Background(), rows, 100))
	ess := runs.SpreadOf(w.ESS, func(x float64) float64 { return x })
	fmt.Printf("%d rows with %d weights each, ESS %.0f %%\n", w.Data, w.Samples, 100*ess.Mean)
	// Output: 100 rows with 100 weights each, ESS 24 %
}

// log Z² measures how well the two networks agree; it is never above 0.
func ExampleModel_LogZ2() {
	run, _ := trained()
	z := must(run.LogZ2(context.Background(), 5000, 10))
	fmt.Printf("%.1f nats, standard error below 0.1: %t\n", z.Value, z.SE < 0.1)
	// Output: -0.7 nats, standard error below 0.1: true
}

// Chains keep the known pixels and draw the missing ones.
func ExampleModel_Inpaint() {
	run, rows := trained()
	mask := must(dataset.ParseMask("bottom", rows.Shape, 1))
	filled := must(run.Inpaint(context.Background(), rows.Subset(5, 1), mask, 2, hm.Chain{Sweeps: 10}, nil))
	known := true
	for i, original := range filled.Originals.Values {
		for j, value := range original {
			known = known && (mask[j] || filled.Images[0].Values[i][j] == value)
		}
	}
	fmt.Println(len(filled.Images), "chains for each of", len(filled.Originals.Values), "images; known pixels unchanged:", known)
	// Output: 2 chains for each of 5 images; known pixels unchanged: true
}

// Encode returns what the recognition network infers, as features of another program, for instance.
func ExampleModel_Encode() {
	run, rows := trained()
	e := must(run.Encode(context.Background(), rows, 20))
	for layer, means := range e.Means {
		fmt.Printf("layer %d: %d rows of %d probabilities\n", layer+1, len(means), len(means[0]))
	}
	// Output:
	// layer 1: 200 rows of 100 probabilities
	// layer 2: 200 rows of 50 probabilities
}

// With a hidden unit held on, dreams show what it stands for. All draws that it does not influence
// stay the same.
func ExampleModel_Held() {
	ctx := context.Background()
	run, _ := trained()
	on, off := must(run.Held(2, 0, true)), must(run.Held(2, 0, false))
	with, without := must(on.Means(ctx, 50)), must(off.Means(ctx, 50))
	changed := 0
	for i := range with.Values {
		for j, value := range with.Values[i] {
			if d := value - without.Values[i][j]; d*d > 0.25 {
				changed++
			}
		}
	}
	fmt.Println("some pixels depend on the unit:", changed > 0, "– fewer than one in three:", 3*changed < 50*196)
	// Output: some pixels depend on the unit: true – fewer than one in three: true
}

// Reconstruct takes rows up through q, and down through p.
func ExampleModel_Reconstruct() {
	run, rows := trained()
	images, reconstructions, err := run.Reconstruct(context.Background(), rows, 32)
	must(images, err)
	right := 0
	for i, image := range images.Values {
		for j, value := range image {
			if (value > 0.5) == (reconstructions.Values[i][j] > 0.5) {
				right++
			}
		}
	}
	fmt.Println("more than nine pixels in ten are right:", 10*right > 9*32*196)
	// Output: more than nine pixels in ten are right: true
}

// Suggested proposes a machine and a method for data of one's own.
func ExampleSuggested() {
	_, method := hm.Suggested(lines())
	fmt.Println(method)
	// Output: NRWS, η = 0.03, α = 0.2, K = 10, cosine, L1 β = 0.003; 40 epochs, seed 1
}

// Layers may be convolutions. The architecture lists the layers and their connections.
func ExampleMachine_Convolve() {
	window := hm.Convolution{Channels: 4, Height: 2, Width: 2, Stride: 2}
	machine := hm.New(dataset.Shape{Height: 14, Width: 14}).Convolve(window).Dense(20)
	fmt.Println(machine)
	// Output:
	// layer  units          kind       network  connection     parameters  Fisher blocks          memory
	// x      196 = 14×14×1  bernoulli  p        deconvolution          17  1 of 17×17, direct     1.6 KiB
	// h1     196 = 7×7×4    bernoulli  p        dense                4116  196 of 21×21, direct   312.4 KiB
	// h1     –              –          q        convolution            20  4 of 5×5, direct       2.1 KiB
	// h2     20             bernoulli  p        prior                  20  20 of 1×1, direct      10.2 KiB
	// h2     –              –          q        dense                3940  20 of 197×197, direct  932.5 KiB
	// 8113 parameters, inverse Fisher blocks of at most 1.2 MiB (metric block)
}

// GradientNoise compares how noisy the gradients of two methods are.
func ExampleMethod_GradientNoise() {
	ctx, set := context.Background(), lines()
	machine := hm.New(set.Shape()).Dense(6, 3)
	of := func(m hm.Method) float64 {
		_, recognition, err := m.GradientNoise(ctx, machine, set, 200)
		must(recognition, err)
		return recognition.Variance / recognition.MeanSquare
	}
	fmt.Println("REINFORCE is noisier than wake-sleep:", of(hm.REINFORCE()) > of(hm.WS()))
	// Output: REINFORCE is noisier than wake-sleep: true
}

// With a classifier beside its networks, a bidirectional machine learns labels from the rows that have one, here a
// third of them.
func ExampleModel_Classify() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", "labels"))
	defer os.RemoveAll(dir)
	digits := must(dataset.Spec{Name: "miniglyphs", Subset: 1500, Labels: 500}.Open())
	machine := hm.New(digits.Shape()).Dense(50, 25).Labels(hm.LowerLabels, 10)
	run := must(hm.BiHM().LearningRate(0.1).Epochs(6).Train(ctx, machine, digits, dir, runs.Quiet))
	c := must(run.Classify(ctx, run.Subset(digits.Test(), 200), 50, nil))
	fmt.Println("fewer than three test rows in ten are wrong:", c.Error < 0.3)
	// Output: fewer than three test rows in ten are wrong: true
}
