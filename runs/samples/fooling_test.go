package samples

import (
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
		logs = append(logs, floats.LogSumExp(append(terms, math.Log(k.noise)-units*math.Ln2)))
	}
	return logs
}

// Each measure is fooled by samples that a person would refuse, and another measure refuses them.
func TestFooling(t *testing.T) {
	spec, n := dataset.Spec{Name: "miniglyphs", Subset: 2000}, 300
	if *study {
		spec.Subset, n = 0, 1000
	}
	set, err := spec.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	train, labels := set.Train().Floats(), set.Train().Labels
	var others, ones [][]float64 // rows of classes above 0, and a row of each class
	for r, row := range train {
		if labels[r] > 0 {
			others = append(others, row)
		}
		if int(labels[r]) == len(ones) {
			ones = append(ones, row)
		}
	}
	judged := func(k kernels, rows dataset.Split) map[string]runs.Estimate {
		drawn := set.Rows(dataset.Sheet{Shape: set.Shape(), Values: k.draw(rand.New(rand.NewPCG(7, 1)), n)})
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
	validated, balanced := kernels{}, kernels{}
	most, least := math.Inf(-1), math.Inf(1)
	for _, flips := range []float64{0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1} {
		k := kernels{centres: train, flips: flips}
		if nats := runs.EstimateOf(k.logP(set.Validation().Floats())).Value; nats > most {
			validated, most = k, nats
		}
		near, far := nearest(k.draw(rand.New(rand.NewPCG(8, 1)), n), train), nearest(set.Validation().Floats(), train)
		if off := math.Abs(nearer(near, far).Value - 0.5); off < least {
			balanced, least = k, off
		}
	}
	fair := judged(validated, set.Test())
	beside := map[string]map[string]runs.Estimate{}
	all := []kernels{
		{"copies", train, 0.001, 0}, {"without class 0", others, validated.flips, 0}, {"one row of each class", ones, 0.001, 0},
		{"99 % noise", train, validated.flips, 0.99}, {"balanced", train, balanced.flips, 0},
	}
	for _, k := range all {
		beside[k.name] = judged(k, set.Test())
	}
	clearly := func(a, b runs.Estimate) bool { return a.Value-b.Value < -2*math.Hypot(a.SE, b.SE) }
	copies, dropped, ones10, noise, flipped := beside["copies"], beside["without class 0"], beside["one row of each class"], beside["99 % noise"], beside["balanced"]
	half := runs.Estimate{Value: 0.5}
	for _, c := range []struct {
		claim string
		holds bool
	}{
		{"one row of each class fools the score and the classes", !clearly(ones10["score"], fair["score_reference"]) && ones10["classes"].Value == 1},
		{"coverage refuses one row of each class", ones10["coverage"].Value < 0.1},
		{"a dropped class fools precision", !clearly(dropped["precision"], fair["precision"])},
		{"recall refuses a dropped class", clearly(dropped["recall"], fair["recall"])},
		{"noise fools recall", !clearly(noise["recall"], fair["recall"])},
		{"precision refuses noise", noise["precision"].Value < 0.05},
		{"copies fool coverage and the two-sample test", !clearly(copies["coverage"], fair["coverage_reference"]) && copies["mmd_p"].Value > 0.05},
		{"the distance from training rows refuses copies", copies["nearer"].Value > 0.9},
		{"copies with as many flips as held-out rows differ by fool the distance from training rows", !clearly(flipped["nearer"], half) && !clearly(half, flipped["nearer"])},
		{"precision refuses copies with as many flips", clearly(flipped["precision"], fair["precision_reference"])},
		{"99 % noise costs less than 4.7 nats of log p, and copies and a dropped class cost more", fair["log_p"].Value-noise["log_p"].Value < 4.7 && noise["log_p"].Value > max(copies["log_p"].Value, dropped["log_p"].Value)},
	} {
		if !c.holds {
			t.Errorf("it is false that %s", c.claim)
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
	line(fmt.Sprintf("kernels, %g flipped", validated.flips), fair)
	for _, k := range all {
		line(fmt.Sprintf("%s, %g flipped", k.name, k.flips), beside[k.name])
	}
}
