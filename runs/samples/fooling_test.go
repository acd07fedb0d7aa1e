package samples

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

var study = flag.Bool("study", false, "judge 1,000 samples and print the tables of notebooks/STUDIES.md")

// kernels is a mixture of training rows with flipped bits and of uniform bits.
type kernels struct {
	name    string
	centres [][]float64
	flips   float64 // probability that a bit of a row is flipped
	noise   float64 // probability of uniform bits
}

func (k kernels) draw(random *rand.Rand, n int) (rows [][]float64) {
	for range n {
		row, flips := slices.Clone(k.centres[random.IntN(len(k.centres))]), k.flips
		if random.Float64() < k.noise {
			flips = 0.5
		}
		for i, v := range row {
			if random.Float64() < flips {
				row[i] = 1 - v
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// logP returns log p of rows in nats, exactly.
func (k kernels) logP(rows [][]float64) (logs []float64) {
	distances, units := squared(rows, k.centres), float64(len(rows[0]))
	for r := range rows {
		terms := distances.RawRowView(r)
		for i, d := range terms {
			terms[i] = math.Log((1-k.noise)/float64(len(k.centres))) + d*math.Log(k.flips) + (units-d)*math.Log1p(-k.flips)
		}
		logs = append(logs, floats.LogSumExp(append(slices.Clip(terms), math.Log(k.noise)-units*math.Ln2)))
	}
	return logs
}

// Each measure is fooled by samples that a person would refuse, and another measure refuses them.
func TestFooling(t *testing.T) {
	spec, n := dataset.Spec{Name: "miniglyphs", Subset: 1000}, 200
	if *study {
		spec.Subset, n = 0, 1000
	}
	set, err := spec.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	train, labels := set.Train().Floats(), set.Train().Labels
	classes := make([][][]float64, set.Classes())
	for r, row := range train {
		classes[labels[r]] = append(classes[labels[r]], row)
	}
	others := slices.Concat(classes[1:]...)
	var first, central [][]float64 // a row of each class: the first one, and the one nearest to the mean
	for _, rows := range classes {
		mean := make([]float64, len(rows[0]))
		for _, row := range rows {
			floats.AddScaled(mean, 1/float64(len(rows)), row)
		}
		first = append(first, rows[0])
		central = append(central, slices.MinFunc(rows, func(x, y []float64) int {
			return cmp.Compare(floats.Distance(x, mean, 2), floats.Distance(y, mean, 2))
		}))
	}
	judged := func(k kernels, rows dataset.Split) map[string]runs.Estimate {
		drawn := dataset.Sheet{Shape: set.Shape(), Values: k.draw(rand.New(rand.NewPCG(7, 1)), n)}
		found, _, err := Judge(set, rows, drawn, 1)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]runs.Estimate{"log_p": runs.EstimateOf(k.logP(set.Test().Floats()))}
		for _, f := range found {
			all[strings.TrimPrefix(f.Measure.Key, "samples_")] = runs.Estimate{Value: f.Value.(float64), SE: f.SE.(float64)}
		}
		return all
	}
	validation := set.Validation().Floats()
	far := nearest(validation, train)
	off := func(flips float64) float64 { // how much nearer to training rows samples are than validation rows
		return nearer(nearest(kernels{"", train, flips, 0}.draw(rand.New(rand.NewPCG(8, 1)), n), train), far).Value - 0.5
	}
	best, balanced := kernels{}, 0.0 // of some shares of flipped bits
	most, least := math.Inf(-1), math.Inf(1)
	for _, flips := range []float64{0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1} {
		k := kernels{"kernels", train, flips, 0}
		if nats := runs.EstimateOf(k.logP(validation)).Value; nats > most {
			best, most = k, nats
		}
		if by := math.Abs(off(flips)); by < least {
			balanced, least = flips, by
		}
	}
	low, high := 0.01, 0.1
	for range 8 {
		if middle := (low + high) / 2; off(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	all := []kernels{
		best, {"copies", train, 0.001, 0}, {"without class 0", others, best.flips, 0}, {"first row of each class", first, 0.001, 0},
		{"99 % noise", train, best.flips, 0.99}, {"balanced, of the shares above", train, balanced, 0},
		{"central row of each class", central, 0.001, 0}, {"copies without class 0", others, 0.001, 0}, {"balanced by bisection", train, low, 0},
	}
	beside := map[string]map[string]runs.Estimate{}
	for _, k := range all {
		beside[k.name] = judged(k, set.Test())
	}
	below := func(a, b runs.Estimate) bool { return a.Value-b.Value < -2*math.Hypot(a.SE, b.SE) }
	fair, copies, dropped, noise := beside["kernels"], beside["copies"], beside["copies without class 0"], beside["99 % noise"]
	ones, flipped, half := beside["central row of each class"], beside["balanced by bisection"], runs.Estimate{Value: 0.5}
	for claim, holds := range map[string]bool{
		"one row of each class fools the score and the classes":  !below(ones["score"], fair["score_reference"]) && ones["classes"].Value == 1,
		"coverage refuses one row of each class":                 below(ones["coverage"], fair["coverage_reference"]),
		"a dropped class fools precision":                        !below(dropped["precision"], fair["precision_reference"]),
		"recall refuses copies without a class":                  !*study || below(dropped["recall"], fair["recall_reference"]),
		"noise fools recall":                                     !below(noise["recall"], fair["recall_reference"]),
		"precision refuses noise":                                noise["precision"].Value < 0.05,
		"copies fool coverage and the two-sample test":           !below(copies["coverage"], fair["coverage_reference"]) && copies["mmd_p"].Value > 0.05,
		"the distance from training rows refuses copies":         copies["nearer"].Value > 0.9,
		"copies with enough flips fool the distance from them":   !below(flipped["nearer"], half) && !below(half, flipped["nearer"]),
		"precision refuses copies with enough flips":             below(flipped["precision"], fair["precision_reference"]),
		"99 % noise costs at most log 100, and copies cost more": fair["log_p"].Value-noise["log_p"].Value < math.Log(100)+1e-9 && noise["log_p"].Value > copies["log_p"].Value,
	} {
		if !holds {
			t.Errorf("it is false that %s", claim)
		}
	}
	if !*study {
		return
	}
	reference := map[string]runs.Estimate{"log_p": {Value: math.NaN(), SE: math.NaN()}, "nearer": half}
	for key, e := range fair {
		if of, is := strings.CutSuffix(key, "_reference"); is {
			reference[of] = e
		}
	}
	fmt.Println("| samples | log p | score | classes | precision | recall | coverage | 1000 MMD² | p | nearer | copies |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	line := func(name string, of map[string]runs.Estimate) {
		fmt.Printf("| %s |", name)
		for _, key := range []string{"log_p", "score", "classes", "precision", "recall", "coverage", "mmd", "mmd_p", "nearer", "copies"} {
			e, decimals, unit := of[key], 2, ""
			switch key {
			case "mmd":
				e.Value, e.SE = 1000*e.Value, 1000*e.SE
			case "mmd_p":
				decimals, e.SE = 3, math.NaN()
			case "classes", "precision", "recall", "coverage", "nearer", "copies":
				e.Value, e.SE, decimals, unit = 100*e.Value, 100*e.SE, 0, " %"
			}
			fmt.Printf(" %s%s |", e.Text(decimals), unit)
		}
		fmt.Println()
	}
	line("rows of the data", reference)
	for _, k := range all {
		line(fmt.Sprintf("%s, %.2g %% flipped", k.name, 100*k.flips), beside[k.name])
	}
}
