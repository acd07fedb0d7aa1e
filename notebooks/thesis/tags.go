package thesis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// tagged describes the training of a deep machine with a pathway of pixels and one of tags. flat describes a
// restricted machine with as many hidden units in one layer.
var (
	tagged = ofTags("pathways", "deep machine, pathways of 300 and 60 units below 200 joint ones", 30, 360, 200)
	flat   = ofTags("flat", "restricted machine, 560 hidden units", 30, 560)
)

func ofTags(name, label string, epochs, first int, above ...int) another {
	return another{
		name: "tags-" + name, label: label, epochs: epochs,
		model: func(small bool) runs.Experiment {
			m := boltzmann.New(dataset.Shape{}).Hidden(first, above...)
			if small {
				m = m.Hidden(30, slices.Repeat([]int{20}, len(above))...)
			}
			if tags := len(dataset.GlyphTags); len(above) > 0 && small {
				m = m.Beside(tags, 5)
			} else if len(above) > 0 {
				m = m.Beside(tags, 60)
			}
			return boltzmann.Experiment{Machine: m.Spec(), Method: boltzmann.PCD().LearningRate(0.05).Spec(), Budget: runs.Budget{Seed: 1}}
		},
		data:  dataset.Spec{Name: "taggedglyphs"},
		smoke: dataset.Spec{Name: "taggedglyphs", Subset: 300, Validation: new(20)},
	}
}

// tagMask hides the tags of taggedglyphs.
func tagMask(shape dataset.Shape) dataset.Mask {
	mask := make(dataset.Mask, shape.Units())
	for i := shape.Units() - len(dataset.GlyphTags); i < len(mask); i++ {
		mask[i] = true
	}
	return mask
}

// ranked describes how well scores of tags tell the tags of test rows.
type ranked struct {
	Precision []float64 `json:"precision"` // average precision of each tag
	First     float64   `json:"first"`     // share of rows with a tag among the 50 with its highest scores, a mean over tags
	Wrong     []float64 `json:"wrong"`     // 1 for each row whose digit is another than the likeliest
}

func (r ranked) mean() float64 { return mean(r.Precision) }

// rank compares scores with the tags of rows.
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

// ranks ranks test rows by the probabilities that chains find of their tags, given their pixels.
func (w *work) ranks(p another) ranked {
	run, model := w.opened(p)
	test, chains := must(w.Sets.Open(run.Experiment(), run.Dir())).Test().Subset(w.few(0, 0, 60), drawSeed), w.few(10, 10, 2)
	return keptOf(w, fmt.Sprintf("tags-of-%d-rows-%d-chains", test.Rows, chains), must(run.Checkpoint("last")), func() ranked {
		w.Say("drawing the tags of %s test rows given their pixels: %s", thousands(test.Rows), p.label)
		filled := must(model.(*boltzmann.Model).Inpaint(w.ctx, test, tagMask(test.Shape), chains, w.few(50, 50, 2), w.Progress))
		first := test.Shape.Units() - len(dataset.GlyphTags)
		return rank(test, func(r, tag int) (sum float64) {
			for _, image := range filled.Images {
				sum += image.Values[r][first+tag]
			}
			return sum
		})
	})
}

// makeTags tells tags from pixels and draws pixels from tags.
func makeTags(w *work) {
	run, model := w.opened(tagged)
	set := must(w.Sets.Open(run.Experiment(), run.Dir()))
	train, test := set.Train(), set.Test().Subset(w.few(0, 0, 60), drawSeed)
	first := train.Shape.Units() - len(dataset.GlyphTags)
	deep, one := w.ranks(tagged), w.ranks(flat)
	w.Say("fitting logistic regressions of tags on pixels")
	digits := classify(floatsOf(train, 0, first), train.Labels, 10)
	scores := [][]float64{}
	for range test.Rows {
		scores = append(scores, nil)
	}
	for tag := range dataset.GlyphTags {
		is := each(floatsOf(train, first+tag, first+tag+1), func(x []float64) uint8 { return uint8(x[0] + 0.5) })
		of := classify(floatsOf(train, 0, first), is, 2).scores(floatsOf(test, 0, first))
		for r := range scores {
			scores[r] = append(scores[r], of.At(r, 1)-of.At(r, 0))
		}
	}
	regression := rank(test, func(r, tag int) float64 { return scores[r][tag] })
	by := fmt.Sprintf("%s test rows", thousands(test.Rows))
	for _, of := range []struct {
		name string
		ranked
	}{{"pathways", deep}, {"one layer", one}, {"logistic regression", regression}} {
		wrong, se := statistics.MeanAndError(len(of.Wrong), func(i int) float64 { return of.Wrong[i] })
		record := w.Beside
		if of.name == "pathways" {
			record = w.Found
		}
		record("digits from pixels, "+of.name, "error", reproduce.Value{Ours: wrong, SE: &se, Seeds: 1, By: by})
		w.Beside("tags from pixels, "+of.name, "mean average precision", reproduce.Value{Ours: of.mean(), Seeds: 1, By: by})
		w.Beside("tags from pixels, "+of.name, "precision of the first 50", reproduce.Value{Ours: of.First, Seeds: 1, By: by})
	}
	var j judgement
	g := paired(deep.Precision, regression.Precision)
	j.add(g.verdict(), "mean average precision %.3f, logistic regression %.3f, restricted machine %.3f; over logistic regression %+.3f ± %.3f", deep.mean(), regression.mean(), one.mean(), g.nats, g.se)
	w.judge("A joint layer ranks images by tags better than logistic regression does.", j)

	some, n := set.Test(), w.few(70, 70, 10) // each digit in each font, in the order of the rows
	some.Rows, some.Values, some.Labels = n, some.Values[:n*some.Shape.Units()], some.Labels[:n]
	mask := tagMask(some.Shape)
	for i := range mask {
		mask[i] = !mask[i]
	}
	filled := must(model.(*boltzmann.Model).Inpaint(w.ctx, some, mask, 1, w.few(500, 500, 5), nil)).Images[0]
	pixels := each(filled.Values, func(x []float64) []float64 { return x[:first] })
	right, se := share(digits.scores(pixels), some.Labels)
	w.Beside("digits that softmax regression reads from pixels drawn given tags", "share", reproduce.Value{Ours: right, SE: &se, Seeds: 1, By: fmt.Sprintf("%d drawings", some.Rows)})
	w.draw("pixels", "Pixels drawn given the tags in the last row of each image, after 500 steps of Gibbs sampling", plotting.Samples(filled))
}
