package thesis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/rivals"
)

var tagEntries = map[string]reproduce.Entry{
	"boltzmann/tags":        made(tagTrainings, makeTags),
	"boltzmann/predictions": made(predictionTrainings, makePredictions),
	"transfer/fonts":        made(fontTrainings, makeFonts),
}

// tagged describes the training of a deep machine with a pathway for pixels and one for tags, after the
// training of its layers. flat describes a restricted machine with the same number of hidden units in one
// layer.
var (
	tagged = ofTags("pathways", "deep machine, pathways of 250 and 50 units below 150 joint ones",
		boltzmann.PCD().Optimizer(boltzmann.Adam).LearningRate(0.0003),
		func(small bool) boltzmann.Machine {
			if small {
				return boltzmann.New(dataset.Shape{}).Hidden(20, 10).Beside(len(dataset.GlyphTags), 5)
			}
			return boltzmann.New(dataset.Shape{}).Hidden(300, 150).Beside(len(dataset.GlyphTags), 50)
		})
	flat = ofTags("flat", "restricted machine, 450 hidden units", boltzmann.PCD().LearningRate(0.1), func(small bool) boltzmann.Machine {
		if small {
			return boltzmann.New(dataset.Shape{}).Hidden(30)
		}
		return boltzmann.New(dataset.Shape{}).Hidden(450)
	})
)

func ofTags(name, label string, method boltzmann.Method, machine func(small bool) boltzmann.Machine) training {
	return training{
		name: "tags-" + name, label: label, laptop: 50, full: 50, seeds: 1,
		model: func(small bool) runs.Experiment {
			return boltzmann.Experiment{Machine: machine(small).Spec(), Method: method.Spec(), Budget: runs.Budget{Seed: 1}}
		},
		data:  dataset.Spec{Name: "taggedglyphs"},
		smoke: dataset.Spec{Name: "taggedglyphs", Subset: 300, Validation: new(20)},
	}
}

// tagTrainings returns the training runs of the layers, of the deep machine that starts from them, and of the
// flat machine.
func tagTrainings(s reproduce.Scale) []reproduce.Training {
	return append(tagged.pretrained(s, "tags", 0.005), flat.at(s))
}

// pretrained returns the training runs of two layers, whose names begin with a prefix, and of a deep machine that starts
// from them.
func (p training) pretrained(s reproduce.Scale, prefix string, rate float64) []reproduce.Training {
	deep, below, above := p.at(s), prefix+"-layer-1", prefix+"-layer-2"
	layers, err := deep.Experiment.(boltzmann.Experiment).Pretraining("", epochsAt(s, 20, 20), rate)
	check(err)
	lower := reproduce.Training{Name: below, Experiment: layers[0].Experiment, Seeds: deep.Seeds}
	upper := reproduce.Training{Name: above, Experiment: layers[1].Experiment, Seeds: deep.Seeds, From: &lower, Begin: standOn}
	deep.From, deep.Begin = &upper, func(e runs.Experiment, dir string, _ int) runs.Experiment {
		of := e.(boltzmann.Experiment)
		of.Pretrained = &boltzmann.Pretrained{Runs: []string{strings.Replace(dir, above, below, 1), dir}}
		return of
	}
	all := []reproduce.Training{lower, upper, deep}
	for i := range all {
		all[i].Arithmetic = hm.FloatingPoint.String()
	}
	return all
}

// combinations returns the tags of each digit in each font, in the order of the rows.
func combinations(rows dataset.Split) (tags [][]uint8) {
	for r := range 70 {
		tags = append(tags, rows.Row(r)[rows.Shape.Units()-len(dataset.GlyphTags):])
	}
	return tags
}

// tagProbabilities returns the probability of each tag given the pixels of each row. p(tags|pixels) is
// proportional to e^(−F) over some combinations of tags. Mean field estimates F of a deep machine.
func tagProbabilities(ctx context.Context, m *boltzmann.Model, rows dataset.Split, of [][]uint8) (p [][]float64) {
	first := rows.Shape.Units() - len(dataset.GlyphTags)
	for r := range rows.Rows {
		var values []uint8
		for _, tags := range of {
			values = append(append(values, rows.Row(r)[:first]...), tags...)
		}
		with := dataset.Split{Name: rows.Name, Shape: rows.Shape, Values: dataset.Bytes(rows.Shape.Units(), values)}
		logs := must(m.FreeEnergy(ctx, with))
		floats.Scale(-1, logs)
		logZ, each := floats.LogSumExp(logs), make([]float64, len(dataset.GlyphTags))
		for k, tags := range of {
			for tag, on := range tags {
				each[tag] += float64(on) / 255 * math.Exp(logs[k]-logZ)
			}
		}
		p = append(p, each)
	}
	return p
}

// ranked describes how well scores of tags predict the tags of test rows.
type ranked struct {
	Precision []float64 `json:"precision"` // average precision of each tag
	First     float64   `json:"first"`     // share of rows with a tag among the 50 rows with its highest scores, averaged over tags
	Wrong     []float64 `json:"wrong"`     // 1 for each row whose digit is not the likeliest
}

// regressed describes how well regressions on pixels predict tags, and the share of drawings whose digit a
// regression recognises.
type regressed struct {
	Tags  ranked  `json:"tags"`
	Right float64 `json:"right"`
	SE    float64 `json:"se"`
}

func (r ranked) mean() float64 { return mean(r.Precision) }

func rank(rows dataset.Split, score func(r, tag int) float64) (of ranked) {
	tags := floatsOf(rows, rows.Shape.Units()-len(dataset.GlyphTags), rows.Shape.Units())
	for tag := range dataset.GlyphTags {
		scores, relevant, order := make([]float64, rows.Rows), make([]bool, rows.Rows), make([]int, rows.Rows)
		for r := range scores {
			scores[r], relevant[r], order[r] = score(r, tag), tags[r][tag] > 0.5, r
		}
		of.Precision = append(of.Precision, averagePrecision(scores, relevant))
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		first := min(50, len(order))
		for _, r := range order[:first] {
			of.First += tags[r][tag] / float64(first*len(dataset.GlyphTags))
		}
	}
	for r, label := range rows.Labels {
		digits := make([]float64, 10)
		for tag := range digits {
			digits[tag] = score(r, tag)
		}
		wrong := 0.0
		if slices.Index(digits, slices.Max(digits)) != int(label) {
			wrong = 1
		}
		of.Wrong = append(of.Wrong, wrong)
	}
	return of
}

func (w *work) ranks(p training) ranked {
	run, set, model := w.opened(p)
	test := set.Test().Subset(w.few(0, 0, 20), drawSeed)
	return keptOf(w, fmt.Sprintf("tags-of-%d-rows", test.Rows), must(run.Checkpoint("last")), func() ranked {
		w.Say("finding the probabilities of the tags of %s test rows given their pixels: %s", thousands(test.Rows), p.label)
		tags := tagProbabilities(w.ctx, model.(*boltzmann.Model), test, combinations(set.Test()))
		return rank(test, func(r, tag int) float64 { return tags[r][tag] })
	})
}

func makeTags(w *work) {
	run, set, model := w.opened(tagged)
	train, test := set.Train(), set.Test().Subset(w.few(0, 0, 20), drawSeed)
	first := train.Shape.Units() - len(dataset.GlyphTags)
	deep, one := w.ranks(tagged), w.ranks(flat)
	some, n := set.Test(), w.few(70, 70, 10) // each digit in each font, in the order of the rows
	some.Values, some.Labels = some.Part(0, n), some.Labels[:n]
	mask := make(dataset.Mask, some.Shape.Units())
	for i := range first {
		mask[i] = true
	}
	filled := must(model.(*boltzmann.Model).Inpaint(w.ctx, some, mask, 1, w.few(500, 500, 5), nil)).Images[0]
	pixels := each(filled.Values, func(x []float64) []float64 { return x[:first] })
	regression := keptOf(w, fmt.Sprintf("regressions-of-%d-rows", test.Rows), must(run.Checkpoint("last")), func() regressed {
		w.Say("fitting logistic regressions of tags on pixels")
		scores := make([][]float64, test.Rows)
		for tag := range dataset.GlyphTags {
			is := each(floatsOf(train, first+tag, first+tag+1), func(x []float64) uint8 { return uint8(x[0] + 0.5) })
			of := classify(floatsOf(train, 0, first), is, 2).Scores(floatsOf(test, 0, first))
			for r := range scores {
				scores[r] = append(scores[r], of.At(r, 1)-of.At(r, 0))
			}
		}
		right, se := share(classify(floatsOf(train, 0, first), train.Labels, 10).Scores(pixels), some.Labels)
		return regressed{rank(test, func(r, tag int) float64 { return scores[r][tag] }), right, se}
	})
	by := fmt.Sprintf("%s test rows", thousands(test.Rows))
	for _, of := range []struct {
		name string
		ranked
	}{{"pathways", deep}, {"one layer", one}, {"logistic regression", regression.Tags}} {
		wrong, se := statistics.MeanAndErrorOf(of.Wrong)
		record := w.Beside
		if of.name == "pathways" {
			record = w.Found
		}
		record("digits from pixels, "+of.name, "error", reproduce.Value{Ours: wrong, SE: &se, Seeds: 1, By: by})
		w.Beside("tags from pixels, "+of.name, "mean average precision", reproduce.Value{Ours: of.mean(), Seeds: 1, By: by})
		w.Beside("tags from pixels, "+of.name, "precision of the first 50", reproduce.Value{Ours: of.First, Seeds: 1, By: by})
	}
	j := w.claim("A joint layer ranks images by tags better than logistic regression does.")
	g := paired(deep.Precision, regression.Tags.Precision)
	j.add(reproduce.Measured(g.nats, g.se, "", "mean average precision less the one of logistic regression").Over(0))
	j.say("%.3f, logistic regression %.3f, restricted machine %.3f", deep.mean(), regression.Tags.mean(), one.mean())

	w.Beside("digits that softmax regression reads from pixels drawn given tags", "share", reproduce.Value{Ours: regression.Right, SE: &regression.SE, Seeds: 1, By: fmt.Sprintf("%d drawings", some.Rows)})
	w.Draw("pixels", "Pixels drawn given the tags in the last row of each image, after 500 steps of Gibbs sampling", plotting.Samples(filled))
}

// classify fits a logistic regression to rows of features.
func classify(rows [][]float64, of []uint8, classes int) rivals.Logistic {
	c, err := rivals.FitLogistic(rows, of, classes, 1e-4)
	check(err)
	return c
}

// share returns the share of rows whose label has the highest score, and its standard error.
func share(scores *mat.Dense, labels []uint8) (right, se float64) {
	n := float64(len(labels))
	for r, label := range labels {
		if floats.MaxIdx(scores.RawRowView(r)) == int(label) {
			right += 1 / n
		}
	}
	return right, math.Sqrt(right * (1 - right) / n)
}

// averagePrecision ranks rows by falling scores, and returns the mean over the relevant rows of the share of
// relevant rows down to their rank.
func averagePrecision(scores []float64, relevant []bool) float64 {
	order := make([]int, len(scores))
	floats.Argsort(floats.ScaleTo(make([]float64, len(scores)), -1, scores), order)
	found, sum := 0.0, 0.0
	for rank, r := range order {
		if relevant[r] {
			found++
			sum += found / float64(rank+1)
		}
	}
	return sum / found
}

func floatsOf(rows dataset.Split, first, last int) [][]float64 {
	return each(rows.Floats(), func(x []float64) []float64 { return x[first:last:last] })
}
