package thesis

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/rivals"
)

var fontMachines = []string{"NRWS", "BiHM", "RBM"} // in the order of their trainings

func fontTrainings(s reproduce.Scale) []reproduce.Training {
	data := dataset.Spec{Name: "fontglyphs"}
	natural := func(name string, m hm.Method) reproduce.Training {
		m = m.LearningRate(0.1).Schedule(hm.CosineDecay).Damping(0.05).RefreshEvery(160).L1(0.0011)
		return plan{name: name, data: data, machine: dense(200, 100, 50), method: m, laptop: 40, full: 40, seeds: 5}.at(s)
	}
	rbm := machine("fonts-rbm", data, boltzmann.PCD().LearningRate(0.2), 100, 100, 5, 200)
	return []reproduce.Training{natural("fonts-nrws", hm.NRWS()), natural("fonts-bihm", hm.NBiHM()), rbm.at(s)}
}

// fontGlyphs are glyphs without the tags below them.
type fontGlyphs struct {
	dataset.Split
	fonts  []int     // of each glyph, an index into styles
	styles [][]uint8 // the tags medium, bold and italic of each font
}

// glyphsOf returns the tagged glyphs with or without the tag mono.
func glyphsOf(mono bool, parts ...dataset.Split) (g fontGlyphs) {
	g.Shape = dataset.Shape{Height: parts[0].Shape.Height - 1, Width: parts[0].Shape.Width}
	var values []uint8
	for _, of := range parts {
		for r, digit := range of.Labels {
			row, units := of.Row(r), g.Shape.Units()
			style := row[units+10 : units+13]
			if (row[units+13] > 0) != mono {
				continue
			}
			font := slices.IndexFunc(g.styles, func(other []uint8) bool { return slices.Equal(style, other) })
			if font < 0 {
				font, g.styles = len(g.styles), append(g.styles, style)
			}
			values, g.Labels, g.fonts = append(values, row[:units]...), append(g.Labels, digit), append(g.fonts, font)
		}
	}
	g.Values = dataset.Bytes(g.Shape.Units(), values)
	return g
}

// oneShot returns, for each of several draws of one glyph per digit and font, the share of the font's other glyphs that are
// nearest to a drawn glyph of another digit. x are the features of all glyphs.
func (g fontGlyphs) oneShot(x [][]float64, draws int) (wrong []float64) {
	random := rand.New(rand.NewPCG(drawSeed, 0))
	for range draws {
		drawn := make([][10]int, len(g.styles))
		for _, r := range random.Perm(g.Rows) {
			drawn[g.fonts[r]][g.Labels[r]] = r
		}
		var of []float64
		for r, digit := range g.Labels {
			if examples := drawn[g.fonts[r]]; examples[digit] != r {
				near := each(examples[:], func(e int) float64 { return -floats.Distance(x[r], x[e], 2) })
				of = append(of, statistics.Mistaken(near, int(digit)))
			}
		}
		wrong = append(wrong, mean(of))
	}
	return wrong
}

// separation returns the share of the variance of features within fonts that lies between the means of digits.
func (g fontGlyphs) separation(x [][]float64) float64 {
	scatter := func(group func(r int) int) (sum float64) {
		n := make([]float64, 10*len(g.styles))
		sums := mat.NewDense(len(n), len(x[0]), nil)
		for r, row := range x {
			floats.Add(sums.RawRowView(group(r)), row)
			n[group(r)]++
			sum += floats.Dot(row, row)
		}
		for k := range n {
			sum -= floats.Dot(sums.RawRowView(k), sums.RawRowView(k)) / max(n[k], 1)
		}
		return sum
	}
	within := scatter(func(r int) int { return 10*g.fonts[r] + int(g.Labels[r]) })
	return 1 - within/scatter(func(r int) int { return g.fonts[r] })
}

// fontTasks names the tasks that features of glyphs are for, with the errors of chance.
var fontTasks = [...]struct{ name, chance string }{
	{"digits, by labels of the four fonts", "90 %"},
	{"digits, by one label of each digit and font", "90 %"},
	{"fonts, by tags of the four fonts", "66.7 %"},
}

// fontMistakes holds mistakes in each task on held-out glyphs of the four fonts, and on the mono fonts. A mistake is 0 or 1 for
// a glyph, or a share for a draw.
type fontMistakes struct {
	Tasks      [len(fontTasks)][2][]float64 `json:"tasks"`
	Separation float64                      `json:"separation"` // of the held-out glyphs
}

// fontSplits are the glyphs of the four fonts with known labels and tags, others of the same fonts, and all of the mono fonts.
type fontSplits struct {
	known, held, mono fontGlyphs
	draws             int // of one glyph per digit and font
}

func (s fontSplits) mistakes(features func(dataset.Split) [][]float64) (m fontMistakes) {
	known := features(s.known.Split)
	digits := classify(known, s.known.Labels, 10)
	tags := each([]int{0, 1, 2}, func(tag int) rivals.Logistic {
		return classify(known, each(s.known.fonts, func(font int) uint8 { return s.known.styles[font][tag] / 255 }), 2)
	})
	for k, of := range []fontGlyphs{s.held, s.mono} {
		x := features(of.Split)
		scores := digits.Scores(x)
		m.Tasks[0][k] = mistakes(of.Split, func(r int) []float64 { return scores.RawRowView(r) })
		m.Tasks[1][k] = of.oneShot(x, s.draws)
		odds := each(tags, func(c rivals.Logistic) *mat.Dense { return c.Scores(x) })
		for r, font := range of.fonts {
			logs := each(of.styles, func(style []uint8) (log float64) { // p(tags of a font), less a constant
				for tag, on := range style {
					log += float64(on) / 255 * (odds[tag].At(r, 1) - odds[tag].At(r, 0))
				}
				return log
			})
			m.Tasks[2][k] = append(m.Tasks[2][k], statistics.Mistaken(logs, font))
		}
	}
	m.Separation = s.held.separation(features(s.held.Split))
	return m
}

// represented describes glyphs in one way, by features of one or several seeds.
type represented struct {
	name       string
	tasks      [len(fontTasks)]classifier
	separation float64 // mean over the seeds
}

func makeFonts(w *work) {
	set := must(dataset.Spec{Name: "taggedglyphs", Validation: new(0), Subset: w.few(0, 0, 700)}.Open())
	s := fontSplits{glyphsOf(false, set.Train()), glyphsOf(false, set.Test()), glyphsOf(true, set.Train(), set.Test()), w.few(100, 100, 2)}
	var all []represented
	add := func(name, checksum string, seeds int, e runs.Encoding) {
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, represented{name: name})
		}
		question := fmt.Sprintf("mistakes on fonts by %s %.16s, %d draws, %d glyphs known", name, checksum, s.draws, s.known.Rows)
		m := must(reproduce.Kept(w.Work, question, func() (fontMistakes, error) {
			w.Say("telling digits and fonts from features: %s", name)
			return s.mistakes(func(of dataset.Split) [][]float64 { return must(e.Encode(w.ctx, of, e.Samples, drawSeed)) }), nil
		}))
		r := &all[len(all)-1]
		r.separation += m.Separation / float64(seeds)
		for task, of := range m.Tasks {
			r.tasks[task].name = name
			r.tasks[task].add(of[0], of[1], seeds)
		}
	}
	for k, t := range fontTrainings(w.Scale) {
		for _, dir := range must(w.Dirs(t.Name, t.Experiment.Header().Epochs)) {
			run := must(runs.Open(dir))
			add(fontMachines[k], must(run.Checkpoint("last")).Checksum(), t.Seeds, must(run.ModelAt("last")).(runs.Encoder).Encodings()[0])
		}
	}
	add("PCA", "", 1, must(factors.FitPPCA(s.known.Floats(), 50)).Encodings()[0])
	add("pixels", "", 1, runs.Encoding{Encode: func(_ context.Context, of dataset.Split, _ int, _ uint64) ([][]float64, error) {
		return of.Floats(), nil
	}})
	pixels := all[len(all)-1]

	for task, t := range fontTasks {
		for _, of := range all {
			c, what := of.tasks[task], of.name+": "+t.name
			v := reproduce.Over(spread(c.tested), len(c.tested))
			v.By = fmt.Sprintf("%s mono glyphs; chance errs on %s", thousands(s.mono.Rows), t.chance)
			if len(c.tested) == 1 {
				_, se := statistics.MeanAndErrorOf(c.rows)
				v.SE = &se
			}
			record := w.Beside
			if w.Has(what, "error (%)") {
				record = w.Found
			}
			record(what, "error (%)", v)
		}
	}
	best := func(task int) classifier {
		return leastMistaken(each(all[:len(fontMachines)], func(r represented) classifier { return r.tasks[task] }))
	}
	for task, says := range []string{
		"Features of a machine transfer to other fonts better than pixels.",
		"With one label of each digit, features of a machine err less than pixels.",
		"Fonts never seen are told by their tags better from features of a machine than from pixels.",
	} {
		w.claim(says).add(best(task).below(pixels.tasks[task]))
	}
	w.claim("Fonts never seen are told by their tags better than by chance.").
		add(best(2).below(classifier{name: "chance", rows: slices.Repeat([]float64{200. / 3}, s.mono.Rows)}))
	separated := slices.MaxFunc(all, func(a, b represented) int { return cmp.Compare(a.separation, b.separation) })
	j := w.claim("With one label of each digit, the features that separate digits best err least.")
	for _, of := range all {
		j.say("%s: %.1f %% of the variance lies between digits", of.name, 100*of.separation)
		if of.name != separated.name {
			j.add(separated.tasks[1].below(of.tasks[1]))
		}
	}
	w.Draw("glyphs", "Digits in the four fonts to learn from, one a row, and below them in the three mono fonts",
		plotting.Samples(dataset.Sheet{Shape: s.known.Shape, Values: append(s.known.Floats()[:40:40], s.mono.Floats()[:30]...)}))
}
