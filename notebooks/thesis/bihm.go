package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// bihmRows lists the results of BiHM thesis 2016 that compare its machine with RWS.
var bihmEntries = map[string]reproduce.Entry{
	"bihm/table3.3": row{cells: bihmAndRWS}.with(
		measured("BiHM", "log p", "BiHM", logP),
		measured("BiHM, lower bound", "bound", "BiHM", bound),
		measured("RWS", "log p", "RWS", logP),
		measured("RWS, lower bound", "bound", "RWS", bound),
		judged("BiHM is ahead of RWS, and its bound far tighter.", falling("BiHM", "RWS"), func(c *comparison, j *judgement) {
			bihm, rws := c.tested("BiHM")[0], c.tested("RWS")[0]
			j.add(exact((bihm.LogP-bihm.Bound)/(rws.LogP-rws.Bound), "", "log p − bound, BiHM over RWS").Under(0.5))
		}),
	),
	"bihm/fig3.3": row{cells: bihmAndRWS}.with(func(c *comparison) {
		samples := map[reproduce.Scale][]int{
			reproduce.Smoke: {1, 10, 20}, reproduce.Laptop: {1, 10, 100, 1000, 10_000}, reproduce.Full: {1, 10, 100, 1000, 10_000, 100_000},
		}[c.Scale]
		rows := c.few(1000, 500, 20)
		few, many := 10, c.few(10_000, 10_000, 20)
		bihm, rws := c.of("BiHM")[0], c.of("RWS")[0]
		test := c.dataset(bihm).Test()
		converge := func(t trained) hm.Convergence {
			of := keptOf(c.work, fmt.Sprint("convergence-", rows, samples), t.snapshot, func() hm.Convergence {
				c.Say("estimating log p of %s from %s samples", t.history.Name, thousands(samples[len(samples)-1]))
				return must(t.model.Convergence(c.ctx, t.model.Subset(test, rows), samples...))
			})
			of.Name = t.history.Name
			return of
		}
		by := func(t trained, samples int) []float64 { return c.estimate(t, "test", rows, samples).Each }
		c.claim("The estimate of the BiHM with K 10 is above that of RWS with K 10,000.").
			above(fmt.Sprintf("BiHM with K %d − RWS with K %s", few, thousands(many)), paired(by(bihm, few), by(rws, many)))
		rises := func(t trained) []float64 {
			less, more := by(t, few), by(t, many)
			for row := range more {
				more[row] -= less[row]
			}
			return more
		}
		c.claim("At small K, RWS underestimates more than the BiHM does.").
			above(fmt.Sprintf("rise from K %d to %s, RWS − BiHM", few, thousands(many)), paired(rises(rws), rises(bihm)))
		c.Draw("by-samples", fmt.Sprintf("Estimates of log p, and of the BiHM also log p* and log p̃*, of %s test rows by the number of samples", thousands(rows)),
			plotting.LikelihoodBySamples(converge(bihm).WithLogZ2(c.logZ2(bihm, c.few(10_000_000, 1_000_000, 1000), 1, 1)), converge(rws)))
	}),
	"bihm/text3.7.2": row{cells: bihmAndRWS}.with(func(c *comparison) {
		of := func(label string) []evaluation {
			return []evaluation{c.estimate(c.of(label)[0], "test", c.few(200, 100, 20), c.few(100_000, 10_000, 20))}
		}
		bihm, rws := of("BiHM"), of("RWS")
		c.found("RWS, ESS of q for p", "ESS, %", rws, scaled(100, essOfP))
		c.found("BiHM, ESS of q for p*", "ESS, %", bihm, scaled(100, essOfPStar))
		c.found("BiHM, ESS of q for p", "ESS, %", bihm, scaled(100, essOfP))
		c.claim("ESS of the BiHM is far above that of RWS.").
			add(exact(bihm[0].ESSStar/rws[0].ESS, "", "ESS of the BiHM over ESS of RWS").Over(10))
	}),
	"bihm/fig3.1": by(func(w *work) {
		bihm, set := w.bihm()
		mask := must(dataset.ParseMask("left", set.Shape(), 1))
		filled := must(bihm.model.Inpaint(w.ctx, bihm.model.Subset(set.Test(), w.few(10, 10, 3)), mask, 5,
			hm.Chain{Sweeps: w.few(100, 100, 2), Candidates: w.few(100, 100, 10)}, w.Progress))
		j := w.look("(shown) Completions are plausible, and differ between chains.")
		restored(j, filled, mask, set.Train())
		w.Draw("inpainting", "Left halves of test rows drawn anew from p* by five chains", plotting.Inpainting(filled))
	}, bihmTuned),
	"bihm/fig3.2": by(func(w *work) {
		bihm, set := w.bihm()
		shown := w.few(100, 100, 10)
		chain := hm.Chain{Sweeps: 10, Candidates: w.few(10_000, 1000, 10)}
		stars := w.samplesOfPStar(bihm, set.Shape(), w.few(1000, 200, 20), chain)
		w.Draw("p", fmt.Sprintf("%d samples of p: means of the visible units", shown),
			plotting.Samples(must(bihm.model.Means(w.ctx, shown))))
		w.Draw("p-star", fmt.Sprintf("%d samples of p* after 10 Gibbs iterations, %s candidates; the chains begin at other samples of p", shown, thousands(chain.Candidates)),
			plotting.Samples(dataset.Sheet{Shape: stars.Shape, Values: stars.Values[:shown]}))
		many := must(bihm.model.Means(w.ctx, w.few(10_000, 10_000, 100)))
		rows := rowPixels(set.Train())
		p, pSE := pixels(many)
		star, starSE := pixels(stars)
		j := w.claim("Digits are crisp; samples of p* lack p's bias towards 1.")
		j.add(reproduce.Measured(p-rows, pSE, "", "mean of the pixels of p less the mean of the training rows").Over(0).Errors(3),
			exact(math.Abs(star-rows)-math.Abs(p-rows), "", "the same distance of p* less the distance of p").Under(0))
		j.say("p %.4f, p* %.4f ± %.4f, training rows %.4f", p, star, starSE, rows)
	}, bihmTuned),
	"bihm/fig3.5": by(func(w *work) {
		bihm, _ := w.bihm()
		all := each(innerSamples, func(inner int) hm.LogZ2 { return w.logZ2(bihm, w.few(1_000_000, 100_000, 200), inner, 1) })
		j := w.claim("The estimates meet.")
		for i, z := range all {
			for _, other := range all[:i] {
				apart := reproduce.Measured(z.Value-other.Value, math.Hypot(z.SE, other.SE), "", "K_inner %d less %d:", z.Inner,
					other.Inner)
				j.add(apart.Within(0).Errors(-3))
			}
		}
		w.Draw("log-z2", "log Z² of the twelve-layer BiHM by the number of outer samples, for 1, 10 and 100 inner ones",
			plotting.LogZ2(all...))
	}, bihmTuned),
	"bihm/fig3.6": by(func(w *work) {
		bihm, _ := w.bihm()
		all := each(innerSamples, func(inner int) hm.LogZ2 { return w.logZ2(bihm, w.totalLogZ2()/inner, inner, 1) })
		w.Found("standard error of log Z² at 10 million samples, K_inner 1", "at most",
			reproduce.Value{Ours: all[0].SE, Seeds: 1, By: thousands(w.totalLogZ2()) + " samples in ten repeats"})

		const repeats = 10
		total := w.few(1_000_000, 100_000, 200)
		spreads := each(innerSamples, func(inner int) float64 {
			var values []float64
			for seed := range repeats {
				values = append(values, w.logZ2(bihm, max(10, total/inner), inner, uint64(seed+2)).Value)
			}
			return sd(values)
		})
		j := w.claim("K_inner 1 converges fastest for the total of samples.")
		for i, inner := range innerSamples[1:] {
			se := math.Hypot(spreads[0], spreads[i+1]) / math.Sqrt(2*(repeats-1))
			j.above(fmt.Sprintf("sd of K_inner %d over sd of 1", inner), gain{spreads[i+1] - spreads[0], se, repeats})
		}
		j.say("sd of K_inner 1, 10, 100: %s over %d runs of %s samples each", list("%.4f", spreads), repeats, thousands(total))
		w.Draw("log-z2-by-total", "log Z² of the twelve-layer BiHM by the number of all samples, outer times inner ones, for 1, 10 and 100 inner ones", plotting.LogZ2ByTotal(all...))
	}, bihmTuned),
	"bihm/fig3.7": by(func(w *work) {
		first := w.trained(bihmFirst.name, "BiHM")
		epochs := first[0].history.Epochs
		last := epochs[len(epochs)-1].Measured["test"]
		gap := math.NaN() // if one of the two is not finite
		logP, measured := last["log_p"]
		if star, normalized := last["log_p_star"]; measured && normalized {
			gap = logP - star
		}
		w.claim("At the end, log p* is less than half a nat below log p.").
			add(exact(gap, "nats", "log p − log p* after %d epochs", len(epochs)).Within(0.5)).
			say("log Z² %.3f", last["log_z2"])
		w.Draw("likelihoods", "log p and log p* of 1,000 test rows along training", plotting.MeasuredAlong("test", []string{"log_p", "log_p_star"}, first[0].history).Title("BiHM, test rows"))
		w.Draw("log-z2", "log Z² along training", plotting.MeasuredAlong("test", []string{"log_z2"}, first[0].history).Title("BiHM"))
	}, bihmFirst),
	"bihm/fig3.8": by(func(w *work) {
		first := w.trained(bihmFirst.name, "BiHM")
		least := math.Inf(1)
		var p, star []float64
		for _, e := range first[0].history.Epochs {
			x, measured := e.Measured["ten_samples"]["log_p"]
			y, tilde := e.Measured["ten_samples"]["log_p_tilde_star"]
			if !measured || !tilde {
				continue
			}
			least = min(least, x-y)
			p, star = append(p, x), append(star, y)
		}
		j := w.claim("Both rise together, log p̃* below.")
		j.add(exact(least, "nats", "log p − log p̃* at the closest of %d epochs", len(p)).Over(0), exact(stat.Correlation(p, star, nil), "", "correlation").Over(0.9))
		if len(p) < 10 {
			j.undecided("too few epochs are measured for a correlation")
		}
		w.Draw("validation", "log p and log p̃* of the validation rows along training, ten samples a row",
			plotting.MeasuredAlong("ten_samples", []string{"log_p", "log_p_tilde_star"}, first[0].history).Title("BiHM, validation rows"))
	}, bihmFirst),
	"bihm/fig3.11": by(func(w *work) {
		bihm, set := w.bihm()
		weights := w.oneWeightEach(bihm, set.Test())
		dreams := must(bihm.model.DreamWeights(w.ctx, w.few(10_000, 10_000, 50), w.few(1000, 100, 10)))
		q, p := sd(weights.LogWeightsStar), sd(dreams.LogWeights)
		j := w.claim("Both proposals are about equally good.")
		ratio := math.Max(q, p) / math.Min(q, p)
		se := ratio * math.Hypot(relativeErrorOfSD(weights.LogWeightsStar), relativeErrorOfSD(dreams.LogWeights))
		j.add(reproduce.Measured(ratio, se, "", "larger over smaller sd of ln ω").Under(1.5))
		j.say("q(h|x) %.3f, p(x,h) %.3f", q, p)
		w.Draw("weights", "Importance weights of both proposals of p* on their common scale", plotting.ProposalWeights(weights, dreams))
	}, bihmTuned),
	"bihm/text3.6.2": by(func(w *work) {
		bihm, _ := w.bihm()
		e := w.normalized(bihm, "test", w.testSamples())
		w.found("log p", "log p", []evaluation{e}, logP)
		w.found("log p*", "log p*", []evaluation{e}, logPStar)
		w.Found("both networks", "parameters", reproduce.Value{Ours: float64(bihm.model.Architecture().Size()), Seeds: 1, By: "counted"})
		w.Beside("log p̃*", "log p̃*", value([]evaluation{e}, logPTildeStar))
		w.Beside("lower bound", "bound", value([]evaluation{e}, bound))

		all := each(withoutLayers(), func(p plan) evaluation {
			return w.normalized(w.trained(p.name, p.name)[0], "validation", w.testSamples())
		})
		j := w.claim("Leaving out any layer is worse.")
		for i, without := range all[1:] {
			g := starDifference(without, all[0])
			j.add(g.of("without layer %d over all twelve", i+1).Under(0).Errors(-2))
		}
		j.say("log p* of validation rows after %d epochs", withoutLayers()[0].epochs(w.Scale))
	}, append([]plan{bihmTuned}, withoutLayers()...)...),
	"bihm/text3.7.1": by(func(w *work) {
		bihm, _ := w.bihm()
		on := device()
		outer := w.few(10_000_000, 1_000_000, 1000)
		seconds := keptOf(w, fmt.Sprintf("seconds-of-log-z2-%d-%s", outer, on), bihm.snapshot, func() float64 {
			w.Say("timing log Z² of %s from %s samples", bihm.history.Name, thousands(outer))
			start := time.Now()
			must(bihm.model.LogZ2(w.ctx, outer, 1))
			return time.Since(start).Seconds()
		})
		w.Found("seconds of 10 million samples, K_inner 1 (GTX 980)", "at most", reproduce.Value{
			Ours: seconds * 10_000_000 / float64(outer), Seeds: 1, By: fmt.Sprintf("once, of %s samples, scaled to 10 million, on %s", thousands(outer), on),
		})
	}, bihmTuned),
	"bihm/fig4.1": descent(5, 8, "The deeper the layer below which a dream is redrawn, the more of its pixels change.",
		func(j *judgement, distances [][]float64, _ float64) {
			for layer := range distances[1:] {
				rise := paired(distances[layer+1], distances[layer])
				j.add(reproduce.Measured(rise.nats, rise.se, "", "rise from layer %d", layer+1).Over(0))
			}
		}),
	"bihm/fig4.2": descent(9, 12, "Redrawn below a deep layer, a dream differs almost as much as independent dreams do.",
		func(j *judgement, distances [][]float64, apart float64) {
			j.add(redrawnBelow(9, distances, apart).Over(0.8))
		}),
	// below the first layer a dream stays as it was
	"bihm/fig4.3": descent(2, 4, "Redrawn below a low layer, a dream differs less than half as much as independent dreams do.",
		func(j *judgement, distances [][]float64, apart float64) {
			j.add(redrawnBelow(2, distances, apart).Under(0.5))
		}),
	"bihm/table4.1": by(func(w *work) {
		const chance = 0.9 // the error of ten classes
		atChance := 0
		j := w.claim("A label on top does not do well beside the literature.")
		for i, p := range labeledPlans() {
			number := fmt.Sprintf("%s, γ %s, ", strings.ReplaceAll(strings.Trim(fmt.Sprint(labeled[i].layers), "[]"), " ", "-"), labeled[i].gamma)
			of := w.trained(p.name, p.name)
			rows, samples := w.few(0, 0, 50), w.few(100, 100, 5)
			c := keptOf(w, fmt.Sprintf("classification-rows-%d-samples-%d", rows, samples), of[0].snapshot, func() hm.Classification {
				w.Say("classifying the test rows by %s", p.name)
				return must(of[0].model.Classify(w.ctx, of[0].model.Subset(w.dataset(of[0]).Test(), rows), samples, w.Progress))
			})
			se := float64(c.ErrorSE)
			w.Found(number+"error", "error", reproduce.Value{Ours: c.Error, SE: &se, Seeds: 1, By: fmt.Sprintf("%s samples of each of %s test rows", thousands(c.Samples), thousands(c.Data))})
			j.add(reproduce.Measured(c.Error, se, "", "%serror", number).Over(0.05).Errors(0))
			if c.Error > chance-2*se {
				atChance++
			}
			w.found(number+"−log p̃*(x)", "−log p̃*", w.evaluate(of), scaled(-1, logPTildeStar))
			w.Found(number+"−log p̃*(y|x)", "−log p̃*", reproduce.Value{Ours: -c.LogP, SE: (*float64)(&c.LogPSE), Seeds: 1})
		}
		if atChance > 0 {
			j.undecided("%d of them are at chance, %g, and have not learned yet", atChance, chance)
		}
	}, labeledPlans()...),
}

// bidirectional returns a machine with the settings of BiHM thesis 2016.
func bidirectional(layers ...int) hm.Machine {
	return dense(layers...).Coding(hm.ZeroOne).Weights(hm.BidirectionalUniform)
}

// The twelve-layer machine of BiHM thesis 2016, 3.6.2: trained with ten samples, then with a
// hundred.
var (
	bihmFirst = plan{
		name: "bihm-twelve", data: binarizedMNIST, machine: bidirectional(twelveLayers...),
		method: hm.BiHM().Optimizer(hm.Adam).BatchSize(100).L1(1e-5).LearningRate(0.001), laptop: 30, full: 600, seeds: 1,
		measured: []hm.Measurement{
			{Every: 10, Rows: 1000, Samples: 1000, LogZ2: 1_000_000},
			{Name: "ten_samples", Every: 10, Split: "validation", Samples: 10},
		},
	}
	bihmTuned = plan{
		name: "bihm-twelve-tuned", data: binarizedMNIST, machine: bihmFirst.machine,
		method: bihmFirst.method.LearningRate(0.0003).Samples(100), laptop: 1, full: 50, seeds: 1, from: &bihmFirst,
	}
	// RWS with its own five layers, so far trained without the L1 that section 3.6 gives all models.
	rwsFive = plan{
		name: "rws-five", data: binarizedMNIST, machine: bidirectional(400, 300, 200, 100, 10),
		method: hm.RWS().Optimizer(hm.Adam).BatchSize(100).LearningRate(0.001), laptop: 30, full: 600, seeds: 1,
	}
)

var bihmAndRWS = []cell{{"BiHM", bihmTuned, 0}, {"RWS", rwsFive, 0}}

func (w *work) bihm() (trained, *dataset.Set) {
	of := w.trained(bihmTuned.nameAt(w.Scale), "BiHM")
	return of[0], w.dataset(of[0])
}

func (w *work) few(full, laptop, smoke int) int {
	return map[reproduce.Scale]int{reproduce.Full: full, reproduce.Laptop: laptop, reproduce.Smoke: smoke}[w.Scale]
}

func (w *work) logZ2(of trained, outer, inner int, seed uint64) hm.LogZ2 {
	return keptOf(w, fmt.Sprintf("log-z2-%d-%d-seed-%d", outer, inner, seed), of.snapshot, func() hm.LogZ2 {
		w.Say("estimating log Z² of %s from %s × %s samples", of.history.Name, thousands(outer), thousands(inner))
		return must(of.model.WithSeed(seed).LogZ2(w.ctx, outer, inner))
	})
}

// normalized evaluates all rows of a split with log p*.
func (w *work) normalized(of trained, split string, samples int) evaluation {
	e := w.estimate(of, split, w.few(0, 0, 50), samples)
	z := w.logZ2(of, w.few(10_000_000, 1_000_000, 1000), 1, 1)
	e.Evaluation = e.WithLogZ2(z)
	return e
}

// measure reads a value of an evaluation, with its standard error.
type measure func(hm.Evaluation) (float64, runs.Float)

func scaled(factor float64, of measure) measure {
	return func(e hm.Evaluation) (float64, runs.Float) {
		value, se := of(e)
		return factor * value, runs.Float(math.Abs(factor)) * se
	}
}

func logP(e hm.Evaluation) (float64, runs.Float)          { return e.LogP, e.LogPSE }
func bound(e hm.Evaluation) (float64, runs.Float)         { return e.Bound, e.BoundSE }
func essOfP(e hm.Evaluation) (float64, runs.Float)        { return e.ESS, e.ESSSE }
func essOfPStar(e hm.Evaluation) (float64, runs.Float)    { return e.ESSStar, e.ESSStarSE }
func logPTildeStar(e hm.Evaluation) (float64, runs.Float) { return e.LogPTildeStar, e.LogPTildeStarSE }
func logPStar(e hm.Evaluation) (float64, runs.Float)      { return *e.LogPStar, *e.LogPStarSE }

func (w *work) found(number, what string, of []evaluation, by measure) {
	w.Found(number, what, value(of, by))
}

func measured(name, what, label string, by measure) step {
	return func(c *comparison) { c.found(name, what, c.tested(label), by) }
}

// innerSamples lists numbers of inner samples per outer sample of log Z². totalLogZ2 returns the total
// number of samples.
var innerSamples = []int{1, 10, 100}

func (w *work) totalLogZ2() int { return w.few(10_000_000, 1_000_000, 2000) }

// withoutLayers returns short training runs with all twelve layers, and without each of the lower six.
func withoutLayers() []plan {
	var plans []plan
	for without := range 7 {
		p := bihmFirst
		p.name, p.laptop, p.full, p.measured = "bihm-all-layers", 5, 30, nil
		if without > 0 {
			p.name = fmt.Sprintf("bihm-without-layer-%d", without)
			p.machine = bidirectional(slices.Delete(slices.Clone(twelveLayers), without-1, without)...)
		}
		plans = append(plans, p)
	}
	return plans
}

// relativeErrorOfSD returns the standard error of a standard deviation over it, by its fourth moment.
func relativeErrorOfSD(values []float64) float64 {
	return math.Sqrt((stat.ExKurtosis(values, nil) + 2) / float64(4*len(values)))
}

// oneWeightEach returns the importance weights of one sample of each test row, relative to the mean over more
// samples of the row.
func (w *work) oneWeightEach(of trained, test dataset.Split) hm.ImportanceWeights {
	const atOnce = 100
	all := hm.ImportanceWeights{Samples: 1}
	samples := w.few(1000, 100, 10)
	for first := 0; first+atOnce <= w.few(10_000, 10_000, atOnce); first += atOnce {
		rows := dataset.Split{Name: test.Name, Shape: test.Shape, Values: test.Part(first, first+atOnce)}
		some := must(of.model.WithSeed(uint64(first+1)).ImportanceWeights(w.ctx, rows, samples))
		all.Data += some.Data
		for row := range some.Data {
			all.LogWeights = append(all.LogWeights, some.LogWeights[row*samples])
			all.LogWeightsStar = append(all.LogWeightsStar, some.LogWeightsStar[row*samples])
		}
		all.ESS, all.ESSStar = append(all.ESS, some.ESS...), append(all.ESSStar, some.ESSStar...)
		if w.Progress != nil {
			w.Progress(float64(all.Data) / float64(test.Rows))
		}
	}
	return all
}

// samplesOfPStar draws n samples of p* by Gibbs chains. It saves them twenty at a time, so that an
// interruption loses only the last few minutes.
func (w *work) samplesOfPStar(of trained, shape dataset.Shape, n int, chain hm.Chain) dataset.Sheet {
	const part = 20
	sheet := dataset.Sheet{Shape: shape}
	for i := range n / part {
		sheet.Values = append(sheet.Values, keptOf(w, fmt.Sprint("samples-of-p-star-", chain, "-", i), of.snapshot, func() [][]float64 {
			w.Say("drawing samples %d to %d of %d of p*", i*part+1, (i+1)*part, n)
			return must(of.model.WithSeed(uint64(i+1)).Gibbs(w.ctx, part, chain, w.Progress)).Values
		})...)
	}
	return sheet
}

// restored judges whether the means of chains restore hidden pixels better than the means of the training rows do.
func restored(j *judgement, filled dataset.Inpainting, mask dataset.Mask, train dataset.Split) {
	means := pixelMeans(train)
	var chains, marginal []float64 // of each row, the mean over its hidden pixels
	for i, original := range filled.Originals.Values {
		chains, marginal = append(chains, 0), append(marginal, 0)
		hidden := 0.0
		for j, missing := range mask {
			if !missing {
				continue
			}
			mean := 0.0
			for _, chain := range filled.Images {
				mean += chain.Values[i][j] / float64(len(filled.Images))
			}
			chains[i] += logBernoulli(original[j], mean)
			marginal[i] += logBernoulli(original[j], means[j])
			hidden++
		}
		chains[i], marginal[i] = chains[i]/hidden, marginal[i]/hidden
	}
	j.above(fmt.Sprintf("log-probability of a hidden pixel, of %d rows, under the mean of %d chains less under its mean over the training rows", len(chains), len(filled.Images)), paired(chains, marginal))
}

// logBernoulli returns the log-probability of a pixel under a mean, which is clipped away from 0 and 1.
func logBernoulli(x, mean float64) float64 {
	mean = math.Min(math.Max(mean, 0.001), 0.999)
	return x*math.Log(mean) + (1-x)*math.Log(1-mean)
}

// descent draws dreams and their redraws below some layers. It judges a claim about the distances between each dream
// and its redraws below each layer, from h¹ on, and about the mean distance between independent dreams.
func descent(from, to int, says string, ask func(j *judgement, distances [][]float64, apart float64)) reproduce.Entry {
	return by(func(w *work) {
		bihm, _ := w.bihm()
		n := w.few(1000, 1000, 20)
		sheets := must(bihm.model.Descend(w.ctx, n))
		dreams, apart := sheets[0].Values, 0.0
		for i := range n {
			apart += hamming(dreams[i], dreams[(i+1)%n]) / float64(n)
		}
		distances := each(sheets, func(s dataset.Sheet) (of []float64) {
			for i, redrawn := range s.Values {
				of = append(of, hamming(dreams[i], redrawn))
			}
			return of
		})
		j := w.claim(says)
		j.say("mean Hamming distances below layers 1 to %d: %s; between independent dreams %.1f",
			len(distances), list("%.1f", each(distances, mean)), apart)
		ask(j, distances, apart)
		ten := func(heading string, s dataset.Sheet) plotting.Column {
			s.Values = s.Values[:min(10, len(s.Values))]
			return plotting.Column{Heading: heading, Sheet: s}
		}
		columns := []plotting.Column{ten("dream", sheets[0])}
		for layer := from; layer <= to; layer++ {
			columns = append(columns, ten(fmt.Sprintf("layer %d", layer), sheets[layer-1]))
		}
		w.Draw("descents", fmt.Sprintf("Ten dreams, and each drawn anew below layers %d to %d", from, to), plotting.SideBySide(columns...))
	}, bihmTuned)
}

// hamming returns the expected Hamming distance between two draws of pixels with means a and b.
func hamming(a, b []float64) (sum float64) {
	for j := range a {
		sum += a[j]*(1-b[j]) + b[j]*(1-a[j])
	}
	return sum
}

// redrawnBelow returns the mean distance below a layer over the distance between independent dreams.
func redrawnBelow(layer int, distances [][]float64, apart float64) reproduce.Quantity {
	return exact(mean(distances[layer-1])/apart, "", "below layer %d, over independent dreams", layer)
}

// labeled lists the machines of BiHM thesis 2016, table 4.1, which have a label on top and learn
// from 1,000 labels.
var labeled = []struct {
	layers []int
	γ      float64
	gamma  string // as the criteria write it
}{
	{[]int{230, 200, 170, 130, 80, 50, 25}, -0.001, "−0.001"},
	{[]int{200, 170, 140, 110, 80, 50, 25}, 0, "0"},
	{[]int{250, 200, 150, 120, 80, 50, 25}, 0.001, "0.001"},
	{[]int{300, 200, 130, 80, 50, 25}, -0.01, "−0.01"},
	{[]int{250, 200, 150, 100, 80, 50, 25, 15}, 0.1, "0.1"},
	{[]int{300, 200, 130, 80, 50, 25, 15}, 0.01, "0.01"},
}

func labeledPlans() []plan {
	var plans []plan
	for i, m := range labeled {
		plans = append(plans, plan{
			name: fmt.Sprintf("labels-on-top-%d", i+1), data: dataset.Spec{Name: "mnist", Binarization: dataset.Drawn, Labels: 1000},
			machine: bidirectional(m.layers...).Bias(-1).Labels(hm.TopLabels, 10),
			method:  hm.BiHM().Optimizer(hm.Adam).LearningRate(0.001).BatchSize(100).Samples(10).Gamma(m.γ).LabelProposal(hm.PlainLabels),
			laptop:  10, full: 200, seeds: 1,
		})
	}
	return plans
}
