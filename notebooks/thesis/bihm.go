package thesis

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// bidirectional is a machine with the settings of 001.
func bidirectional(layers ...int) hm.Machine {
	return dense(layers...).Coding(hm.ZeroOne).Weights(hm.BidirectionalUniform)
}

// The twelve-layer machine of 001, 3.6.2: trained with ten samples, then with a
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
	rwsFive = plan{
		name: "rws-five", data: binarizedMNIST, machine: bidirectional(400, 300, 200, 100, 10),
		method: hm.RWS().Optimizer(hm.Adam).BatchSize(100).LearningRate(0.001), laptop: 30, full: 600, seeds: 1,
	}
)

func bihmPlans(reproduce.Scale) []plan { return []plan{bihmTuned} }

func bihmAndRWS(reproduce.Scale) []plan { return []plan{bihmTuned, rwsFive} }

// bihm is the trained machine of 3.6.2, its data, and log Z² of it.
func (w *work) bihm() (trained, *dataset.Set, error) {
	of, err := w.trained(bihmTuned.at(w.Scale).Name, "BiHM")
	if err != nil {
		return trained{}, nil, err
	}
	set, err := w.dataset(of[0])
	return of[0], set, err
}

// few is a number of draws or samples, less at the smaller scales.
func (w *work) few(full, laptop, smoke int) int {
	return map[reproduce.Scale]int{reproduce.Full: full, reproduce.Laptop: laptop, reproduce.Smoke: smoke}[w.Scale]
}

// timedLogZ2 is log Z² with the time that it took.
type timedLogZ2 struct {
	hm.LogZ2
	Seconds float64
}

// logZ2 estimates log Z² of a model from outer samples with inner ones.
func (w *work) logZ2(of trained, outer, inner int, seed uint64) (timedLogZ2, error) {
	return reproduce.KeptOf(w.Work, fmt.Sprintf("log-z2-%d-%d-seed-%d", outer, inner, seed), of.snapshot, func() (timedLogZ2, error) {
		w.Say("estimating log Z² of %s from %s × %s samples", of.history.Name, thousands(outer), thousands(inner))
		start := time.Now()
		z, err := of.model.Seed(seed).LogZ2(w.ctx, outer, inner)
		return timedLogZ2{z, time.Since(start).Seconds()}, err
	})
}

// normalised evaluates a model with log p*.
func (w *work) normalised(of trained) (evaluation, error) {
	e, err := w.evaluate([]trained{of})
	if err != nil {
		return evaluation{}, err
	}
	z, err := w.logZ2(of, w.few(10_000_000, 1_000_000, 1000), 1, 1)
	if err != nil {
		return evaluation{}, err
	}
	e[0].Evaluation = e[0].Normalise(z.LogZ2)
	return e[0], nil
}

func bound(e hm.Evaluation) (float64, hm.StandardError)    { return e.Bound, e.BoundSE }
func logPStar(e hm.Evaluation) (float64, hm.StandardError) { return *e.LogPStar, *e.LogPStarSE }

// found adds a measure of evaluations as a number of the criteria.
func (w *work) found(number, measure string, of []evaluation, by func(hm.Evaluation) (float64, hm.StandardError)) {
	w.Found(number, measure, w.here(value(of, by)))
}

func makeTable33(w *work) error {
	bihm, _, err := w.bihm()
	if err != nil {
		return err
	}
	rws, err := w.trained(rwsFive.name, "RWS")
	if err != nil {
		return err
	}
	a, err := w.evaluate([]trained{bihm})
	if err != nil {
		return err
	}
	b, err := w.evaluate(rws)
	if err != nil {
		return err
	}
	w.found("BiHM", "log p", a, logP)
	w.found("BiHM, lower bound", "bound", a, bound)
	w.found("RWS", "log p", b, logP)
	w.found("RWS, lower bound", "bound", b, bound)
	verdict, evidence := order(scored{"BiHM", a}, scored{"RWS", b})
	gap := func(of []evaluation) float64 { return of[0].LogP - of[0].Bound }
	v := holdsIf(gap(a) < gap(b)/2)
	verdict, evidence = both(verdict, evidence, v, fmt.Sprintf("log p − bound %.2f and %.2f nats", gap(a), gap(b)))
	w.JudgeFull("BiHM is ahead of RWS, and its bound far tighter.", verdict, "%s", evidence)
	return nil
}

// holdsIf is the verdict on what is known without an error.
func holdsIf(holds bool) reproduce.Verdict {
	if holds {
		return reproduce.Holds
	}
	return reproduce.Fails
}

func makeLogZ2(w *work, byTotal bool) error {
	bihm, _, err := w.bihm()
	if err != nil {
		return err
	}
	var all []hm.LogZ2
	for _, inner := range []int{1, 10, 100} {
		outer := w.few(1_000_000, 100_000, 200)
		if byTotal {
			outer = w.few(10_000_000, 1_000_000, 2000) / inner
		}
		z, err := w.logZ2(bihm, outer, inner, 1)
		if err != nil {
			return err
		}
		all = append(all, z.LogZ2)
	}
	if !byTotal {
		verdict, evidence := reproduce.Holds, ""
		for i, z := range all {
			for _, other := range all[:i] {
				apart, se := z.Value-other.Value, math.Hypot(z.SE, other.SE)
				verdict, evidence = both(verdict, evidence, holdsIf(math.Abs(apart) < 3*se),
					fmt.Sprintf("K_inner %d less %d: %+.4f ± %.4f", z.Inner, other.Inner, apart, se))
			}
		}
		w.JudgeFull("The estimates meet.", verdict, "%s", evidence)
		return w.Figure("log-z2", "log Z² of the twelve-layer BiHM by the number of outer samples, for 1, 10 and 100 inner ones", plotting.LogZ2(all...))
	}
	v := reproduce.Value{Ours: all[0].SE, Seeds: 1, By: thousands(w.few(10_000_000, 1_000_000, 2000)) + " samples in ten repeats", Elsewhere: w.elsewhere()}
	w.Found("standard error of log Z² at 10 million samples, K_inner 1", "at most", v)

	total := w.few(1_000_000, 100_000, 200)
	var spreads []float64
	evidence := ""
	for _, inner := range []int{1, 10, 100} {
		var values []float64
		for seed := range 10 {
			z, err := w.logZ2(bihm, max(10, total/inner), inner, uint64(seed+2))
			if err != nil {
				return err
			}
			values = append(values, z.Value)
		}
		sd := runs.SpreadOf(values, func(x float64) float64 { return x }).SD
		spreads = append(spreads, sd)
		_, evidence = both(reproduce.Holds, evidence, reproduce.Holds, fmt.Sprintf("K_inner %d: sd %.4f", inner, sd))
	}
	w.Judge("K_inner 1 converges fastest for the total of samples.", holdsIf(spreads[0] == slices.Min(spreads)), "%s samples in all, ten runs: %s", thousands(total), evidence)
	return w.Figure("log-z2-by-total", "The same by the number of all samples", plotting.LogZ2ByTotal(all...))
}

func makeFig35(w *work) error { return makeLogZ2(w, false) }
func makeFig36(w *work) error { return makeLogZ2(w, true) }

func makeText371(w *work) error {
	bihm, _, err := w.bihm()
	if err != nil {
		return err
	}
	outer := w.few(10_000_000, 1_000_000, 1000)
	z, err := w.logZ2(bihm, outer, 1, 1)
	if err != nil {
		return err
	}
	w.Found("seconds of 10 million samples, K_inner 1 (GTX 980)", "at most", reproduce.Value{
		Ours: z.Seconds * 10_000_000 / float64(outer), Seeds: 1, By: "once, " + thousands(outer) + " samples",
	})
	return nil
}

func makeText362(w *work) error {
	bihm, _, err := w.bihm()
	if err != nil {
		return err
	}
	e, err := w.normalised(bihm)
	if err != nil {
		return err
	}
	w.found("log p", "log p", []evaluation{e}, logP)
	w.found("log p*", "log p*", []evaluation{e}, logPStar)
	w.Beside("log p̃*", "log p̃*", value([]evaluation{e}, func(e hm.Evaluation) (float64, hm.StandardError) { return e.LogPTildeStar, e.LogPTildeStarSE }))
	w.Beside("lower bound", "bound", value([]evaluation{e}, bound))

	all := withoutLayers(w.Scale)
	var whole evaluation
	verdict, evidence := reproduce.Holds, ""
	for i, p := range all {
		of, err := w.trained(p.name, p.name)
		if err != nil {
			return err
		}
		of[0].history.Name = p.name
		e, err := w.normalised(of[0])
		if err != nil {
			return err
		}
		if i == 0 {
			whole = e
			continue
		}
		mean, se := e.LogPTildeStar-*e.LogZ2-(whole.LogPTildeStar-*whole.LogZ2), math.Hypot(float64(*e.LogPStarSE), float64(*whole.LogPStarSE))
		verdict, evidence = both(verdict, evidence, holdsIf(mean < 2*se), fmt.Sprintf("without layer %d %+.2f ± %.2f nats", i, mean, se))
	}
	w.Judge("Leaving out any layer is worse.", verdict, "after %d epochs, log p*: %s", all[0].epochs(w.Scale), evidence)
	return nil
}

// bihmDepths are the training of the machine of 3.6.2, and shorter ones of the same
// without one of its lower six layers.
func bihmDepths(s reproduce.Scale) []plan { return append(bihmPlans(s), withoutLayers(s)...) }

// withoutLayers are short trainings of all twelve layers, and without each of the
// lower six.
func withoutLayers(reproduce.Scale) []plan {
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

func makeFig37(w *work) error {
	first, err := w.trained(bihmFirst.name, "BiHM")
	if err != nil {
		return err
	}
	epochs := first[0].history.Epochs
	last := epochs[len(epochs)-1].Measured["test"]
	gap := last["log_p"] - last["log_p_star"]
	w.JudgeFull("−2 log Z stays small, and log p* follows log p.", holdsIf(math.Abs(gap) < 0.5),
		"log p − log p* %.3f nats after %d epochs; log Z² %.3f", gap, len(epochs), last["log_z2"])
	if err := w.Figure("likelihoods", "log p and log p* of 1,000 test rows along training", plotting.MeasuredAlong("test", []string{"log_p", "log_p_star"}, first[0].history)); err != nil {
		return err
	}
	return w.Figure("log-z2", "log Z² along training", plotting.MeasuredAlong("test", []string{"log_z2"}, first[0].history))
}

func makeFig38(w *work) error {
	first, err := w.trained(bihmFirst.name, "BiHM")
	if err != nil {
		return err
	}
	below, n := true, 0.0
	var sx, sy, sxx, syy, sxy float64
	for _, e := range first[0].history.Epochs {
		m, ok := e.Measured["ten_samples"]
		if !ok {
			continue
		}
		x, y := m["log_p"], m["log_p_tilde_star"]
		below = below && y < x
		n++
		sx, sy, sxx, syy, sxy = sx+x, sy+y, sxx+x*x, syy+y*y, sxy+x*y
	}
	correlation := (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
	w.JudgeFull("Both rise together, log p̃* below.", holdsIf(below && correlation > 0.9), "%.0f epochs measured; correlation %.4f; below at each: %t", n, correlation, below)
	return w.Figure("validation", "log p and log p̃* of the validation rows along training, ten samples a row",
		plotting.MeasuredAlong("ten_samples", []string{"log_p", "log_p_tilde_star"}, first[0].history))
}

func bihmFirstPlan(reproduce.Scale) []plan { return []plan{bihmFirst} }

func makeFig33(w *work) error {
	bihm, set, err := w.bihm()
	if err != nil {
		return err
	}
	rws, err := w.trained(rwsFive.name, "RWS")
	if err != nil {
		return err
	}
	samples := map[reproduce.Scale][]int{
		reproduce.Smoke: {1, 10, 20}, reproduce.Laptop: {1, 10, 100, 1000}, reproduce.Full: {1, 10, 100, 1000, 10_000, 100_000},
	}[w.Scale]
	rows := w.few(1000, 500, 20)
	var all []hm.Convergence
	for _, of := range []trained{bihm, rws[0]} {
		c, err := reproduce.KeptOf(w.Work, fmt.Sprint("convergence-", rows, samples), of.snapshot, func() (hm.Convergence, error) {
			w.Say("estimating log p of %s from %s samples", of.history.Name, thousands(samples[len(samples)-1]))
			return of.model.Convergence(w.ctx, of.model.Some(set.Test(), rows), samples...)
		})
		if err != nil {
			return err
		}
		c.Name = of.history.Name
		all = append(all, c)
	}
	z, err := w.logZ2(bihm, w.few(10_000_000, 1_000_000, 1000), 1, 1)
	if err != nil {
		return err
	}
	at := func(c hm.Convergence, k int) (float64, float64) {
		i := slices.Index(samples, k)
		if i < 0 {
			i = len(samples) - 1
		}
		return c.LogP[i], c.LogPSE[i]
	}
	ten, tenSE := at(all[0], 10)
	many, manySE := at(all[1], 10_000)
	w.Judge("The estimate of the BiHM with K 10 is above that of RWS with K 10,000.", holdsIf(ten-many > 2*math.Hypot(tenSE, manySE)),
		"BiHM with K 10 %.2f ± %.2f, RWS with the most %.2f ± %.2f nats", ten, tenSE, many, manySE)
	manyBiHM, _ := at(all[0], 10_000)
	tenRWS, _ := at(all[1], 10)
	w.Judge("All underestimate at small K, the BiHM least.", holdsIf(manyBiHM-ten < many-tenRWS),
		"BiHM gains %.2f nats from K 10 to the most, RWS %.2f", manyBiHM-ten, many-tenRWS)
	return w.Figure("by-samples", fmt.Sprintf("Estimates of log p, and of the BiHM also log p* and log p̃*, of %s test rows by the number of samples", thousands(rows)),
		plotting.LikelihoodBySamples(all[0].Normalise(z.LogZ2), all[1]))
}

func makeText372(w *work) error {
	bihm, set, err := w.bihm()
	if err != nil {
		return err
	}
	rws, err := w.trained(rwsFive.name, "RWS")
	if err != nil {
		return err
	}
	samples, rows := w.few(100_000, 10_000, 20), w.few(200, 100, 20)
	var of [2]evaluation
	for i, t := range []trained{bihm, rws[0]} {
		of[i], err = reproduce.KeptOf(w.Work, fmt.Sprintf("test-rows-%d-samples-%d", rows, samples), t.snapshot, func() (evaluation, error) {
			w.Say("estimating the effective sample size of %s", t.history.Name)
			e, err := t.model.Evaluate(w.ctx, t.model.Some(set.Test(), rows), samples, w.Progress)
			return evaluation{e, e.Each}, err
		})
		if err != nil {
			return err
		}
	}
	percent := func(number string, of evaluation, ess float64, se hm.StandardError) {
		v := reproduce.Value{Ours: 100 * ess, Seeds: 1, By: value([]evaluation{of}, logP).By, Elsewhere: w.elsewhere()}
		error := 100 * float64(se)
		v.SE = &error
		w.Found(number, "ESS, %", v)
	}
	percent("RWS, ESS of q for p", of[1], of[1].ESS, of[1].ESSSE)
	percent("BiHM, ESS of q for p*", of[0], of[0].ESSStar, of[0].ESSStarSE)
	percent("BiHM, ESS of q for p", of[0], of[0].ESS, of[0].ESSSE)
	w.JudgeFull("ESS of the BiHM is far above that of RWS.", holdsIf(of[0].ESSStar > 10*of[1].ESS), "%.3f %% against %.3f %%", 100*of[0].ESSStar, 100*of[1].ESS)
	return nil
}

func makeFig311(w *work) error {
	bihm, set, err := w.bihm()
	if err != nil {
		return err
	}
	weights, err := bihm.model.ImportanceWeights(w.ctx, set.Test(), w.few(10_000, 1000, 20))
	if err != nil {
		return err
	}
	dreams, err := bihm.model.DreamWeights(w.ctx, w.few(10_000, 10_000, 50), w.few(1000, 100, 10))
	if err != nil {
		return err
	}
	sd := func(values []float64) float64 {
		return runs.SpreadOf(values, func(x float64) float64 { return x }).SD
	}
	q, p := sd(weights.LogPStar), sd(dreams.LogPStar)
	w.JudgeFull("Both proposals are about equally good.", holdsIf(math.Max(q, p) < 1.5*math.Min(q, p)), "sd of ln ω: q(h|x) %.3f, p(x,h) %.3f", q, p)
	return w.Figure("weights", "Importance weights of both proposals of p* on their common scale", plotting.ProposalWeights(weights, dreams))
}

func makeFig32(w *work) error {
	bihm, set, err := w.bihm()
	if err != nil {
		return err
	}
	dreams, err := bihm.model.Sample(w.ctx, 100)
	if err != nil {
		return err
	}
	chain := hm.Chain{Sweeps: 10, Candidates: w.few(10_000, 1000, 10)}
	after, err := bihm.model.Gibbs(w.ctx, 100, chain, w.Progress)
	if err != nil {
		return err
	}
	if err := w.Figure("p", "100 samples of p: means of the visible units", plotting.Samples(dreams)); err != nil {
		return err
	}
	if err := w.Figure("p-star", fmt.Sprintf("The same after 10 Gibbs iterations on p*, %s candidates", thousands(chain.Candidates)), plotting.Samples(after)); err != nil {
		return err
	}
	many, err := bihm.model.Sample(w.ctx, w.few(10_000, 10_000, 100))
	if err != nil {
		return err
	}
	n := w.few(1000, 200, 20)
	stars, err := reproduce.KeptOf(w.Work, fmt.Sprint("pixels-of-p-star-", n, chain), bihm.snapshot, func() ([2]float64, error) {
		w.Say("drawing %s samples of p*", thousands(n))
		sheet, err := bihm.model.Gibbs(w.ctx, n, chain, w.Progress)
		mean, se := pixels(sheet)
		return [2]float64{mean, se}, err
	})
	if err != nil {
		return err
	}
	rows := rowPixels(set.Train())
	p, pSE := pixels(many)
	star, starSE := stars[0], stars[1]
	w.JudgeFull("Digits are crisp; samples of p* lack p's bias towards 1.", holdsIf(p-rows > 3*pSE && math.Abs(star-rows) < math.Abs(p-rows)),
		"mean of the pixels: p %.4f ± %.4f, p* %.4f ± %.4f, training rows %.4f", p, pSE, star, starSE, rows)
	return nil
}

func makeFig31(w *work) error {
	bihm, set, err := w.bihm()
	if err != nil {
		return err
	}
	mask, err := dataset.ParseMask("left", set.Shape(), 1)
	if err != nil {
		return err
	}
	filled, err := bihm.model.Inpaint(w.ctx, bihm.model.Some(set.Test(), w.few(10, 10, 3)), mask, 5,
		hm.Chain{Sweeps: w.few(100, 100, 2), Candidates: w.few(100, 100, 10)}, w.Progress)
	if err != nil {
		return err
	}
	means := make([]float64, set.Shape().Units())
	train := set.Train()
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			means[j] += float64(v) / 255 / float64(train.Rows)
		}
	}
	var chains, marginal float64
	hidden := 0
	for i, original := range filled.Originals.Values {
		for j, missing := range mask {
			if !missing {
				continue
			}
			mean := 0.0
			for _, chain := range filled.Images {
				mean += chain.Values[i][j] / float64(len(filled.Images))
			}
			chains += logBernoulli(original[j], mean)
			marginal += logBernoulli(original[j], means[j])
			hidden++
		}
	}
	chains, marginal = chains/float64(hidden), marginal/float64(hidden)
	w.Judge("(shown) Completions are plausible, and differ between chains.", holdsIf(chains > marginal),
		"log-probability of a hidden pixel: under the mean of the chains %.4f, under its mean over the training rows %.4f nats", chains, marginal)
	return w.Figure("inpainting", "Left halves of test rows drawn anew from p* by five chains", plotting.Inpainting(filled))
}

// logBernoulli is the log-probability of a pixel under a mean, kept off 0 and 1.
func logBernoulli(x, mean float64) float64 {
	mean = math.Min(math.Max(mean, 0.001), 0.999)
	return x*math.Log(mean) + (1-x)*math.Log(1-mean)
}

// descents are the mean Hamming distances between a dream and those that are drawn
// anew below each layer, h¹ first, and that between independent dreams.
func (w *work) descents() (distances []float64, apart float64, sheets []dataset.Sheet, err error) {
	bihm, _, err := w.bihm()
	if err != nil {
		return nil, 0, nil, err
	}
	n := w.few(1000, 1000, 20)
	if sheets, err = bihm.model.Descend(w.ctx, n); err != nil {
		return nil, 0, nil, err
	}
	// The expected distance between two draws of pixels with means a and b.
	hamming := func(a, b []float64) float64 {
		sum := 0.0
		for j := range a {
			sum += a[j]*(1-b[j]) + b[j]*(1-a[j])
		}
		return sum
	}
	for _, sheet := range sheets {
		sum := 0.0
		for i := range sheet.Values {
			sum += hamming(sheets[0].Values[i], sheet.Values[i]) / float64(n)
		}
		distances = append(distances, sum)
	}
	for i := range n {
		apart += hamming(sheets[0].Values[i], sheets[0].Values[(i+1)%n]) / float64(n)
	}
	return distances, apart, sheets, nil
}

// makeDescent draws dreams that are drawn anew below some layers, and judges a claim of
// the distances, which may ask for more than an order.
func makeDescent(from, to int, threshold bool, says string, holds func(distances []float64, apart float64) bool) func(*work) error {
	return func(w *work) error {
		distances, apart, sheets, err := w.descents()
		if err != nil {
			return err
		}
		judge := w.Judge
		if threshold {
			judge = w.JudgeFull
		}
		judge(says, holdsIf(holds(distances, apart)), "mean Hamming distances below layers 1 to %d: %.1f; between independent dreams %.1f", len(distances), distances, apart)
		for i, s := range sheets {
			sheets[i].Values = s.Values[:min(10, len(s.Values))]
		}
		shown := append([]dataset.Sheet{sheets[0]}, sheets[from-1:to]...)
		return w.Figure("descents", fmt.Sprintf("Ten dreams (left), drawn anew below layers %d to %d", from, to), plotting.Descents(shown))
	}
}

func rises(distances []float64, _ float64) bool { return slices.IsSorted(distances) }
