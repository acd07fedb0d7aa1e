package thesis

import (
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

var facesEntries = map[string]reproduce.Entry{
	"varady/fig5.8": row{cells: []cell{{"NRWS", facesNRWS, 0}, {"RWS", facesRWS, 0}}, timed: true, onTest: true}.with(
		judged("NRWS is ahead by epochs and by time, and generalises much better.", askGeneralising, soFar("NRWS", "RWS")),
		curves(standIn),
	),
	"varady/fig5.12": row{cells: []cell{{"NRWS", facesNRWS, 0}, {"NBiHM", facesNBiHM, 0}, {"BiHM", facesBiHM, 0}}, timed: true,
		onTest: true}.with(
		judged("NRWS is ahead of both.",
			bestAbove(pair{"best of test rows, NRWS over NBiHM", "NRWS", "NBiHM"}, pair{"best of test rows, NRWS over BiHM", "NRWS", "BiHM"}),
			byFewSamples, soFar("NRWS", "NBiHM", "BiHM")),
		curves(standIn+", bidirectional machines"),
	),
	"varady/fig5.19": row{cells: fig519, onTest: true}.with(
		shown("Three steps and the factor 3 overlap almost entirely.", func(c *comparison, j *judgement) {
			all := c.all()
			plain, scaled, thrice := all[0].mean(end), all[1].mean(end), all[2].mean(end)
			j.add(exact(math.Abs(thrice-scaled)-(thrice-plain)/4, "nats", "test rows at the end: distance of three steps from the factor 3 less a quarter of their gain over one plain step").Under(0))
		}, soFar()),
		shown("Three steps of factor 3 are best.",
			endsAbove(each(fig519[:3], func(c cell) pair { return over("sleep steps: 3, factor 3", c.number) })...), soFar()),
		curves(standIn+", more and longer sleep"),
	),
	"varady/fig6.8": row{cells: fig68(), onTest: true}.with(
		judged("L2 up to β 0.05 helps RWS; L1 harms NRWS at every β.",
			bestAbove(
				pair{"best of test rows, RWS with L2 0.0005 over none", "RWS, L2 0.0005", "RWS"}, pair{"best of test rows, RWS with L2 0.05 over none", "RWS, L2 0.05", "RWS"},
				pair{"NRWS without over L1 0.0005", "NRWS", "NRWS, L1 0.0005"}, pair{"NRWS without over L1 0.01", "NRWS", "NRWS, L1 0.01"}),
			soFar("RWS", "NRWS")),
		curvesByMethod(standIn+", penalties", "", ", L1 0.0005", ", L1 0.01", ", L2 0.0005", ", L2 0.05"),
	),
	"varady/fig7.3": row{cells: fig73(), onTest: true}.with(func(c *comparison) {
		var variation []float64
		for _, name := range c.labels {
			of := c.of(name)
			sheet := must(of[0].model.Means(c.ctx, c.few(100, 100, 10)))
			variation = append(variation, totalVariation(sheet))
			c.Draw(slug(name), fmt.Sprintf("Means of 100 dreams of %s units after %d epochs of %s", name, of.epochs(), standIn), plotting.Samples(sheet))
		}
		j := c.look("Gaussian units reach comparable faces in far fewer epochs; they are smooth, binary ones noisy.")
		j.add(exact(variation[1]-variation[0], "", "mean difference of neighbouring pixels of dreams, Gaussian units less Bernoulli units").Under(0))
		soFar()(c, j)
	}),
	"varady/fig7.8": row{cells: fig78, onTest: true}.with(
		shown("Dense and conv-only alike; both with a deconvolution significantly worse.",
			func(c *comparison, j *judgement) {
				all := c.all()
				both, dense, q, p := all[0].mean(end), all[1].mean(end), all[2].mean(end), all[3].mean(end)
				j.add(exact(math.Abs(dense-q)/math.Abs(dense-both), "", "test rows at the end: distance of dense from q only, over its distance from conv/deconv").Under(0.1),
					exact(min(dense, q)-both, "nats", "the lower of both over conv/deconv").Over(0),
					exact(min(dense, q)-p, "nats", "the lower of both over p only").Over(0))
			}, soFar()),
		curves(standIn+", bottom layers"),
	),
	"varady/fig7.9": row{cells: []cell{{"RWS", fig78[0].plan, 0},
		{"NRWS", bottom("conv-nrws", hm.NRWS().Damping(0.2), convolved(hm.BothNetworks)), 0}}, onTest: true}.with(
		shown("Same minimum; NRWS slightly faster.", func(c *comparison, j *judgement) {
			var reached [2]int
			var highest, covered [2]float64
			for i, of := range c.all("RWS", "NRWS") {
				first := of.mean(after(1))
				highest[i] = of.mean(best)
				covered[i] = highest[i] - first
				for reached[i] = 1; reached[i] < of.epochs() && of.mean(after(reached[i])) < first+0.9*covered[i]; reached[i]++ {
				}
			}
			j.add(exact((highest[1]-highest[0])/covered[0], "", "best of test rows, NRWS − RWS, over the %.1f nats that training covers", covered[0]).Within(0.01),
				exact(float64(reached[1]-reached[0]), "epochs", "nine tenths of that, NRWS less RWS").Under(0))
		}, soFar()),
		curves(standIn+", convolutions"),
	),
	"bihm/fig3.10": row{cells: []cell{{"BiHM", largeFaces, 0}}, onTest: true}.with(
		shown("First epochs learn the mean face, then log p* rises for hundreds of epochs.",
			func(c *comparison, j *judgement) {
				epochs := c.epochsOf(largeFaces.name)
				half := partOf(largeFaces.part, epochs)
				star := func(epoch int) evaluation {
					return c.normalized(c.trainedAt(largeFaces.name, "BiHM", epoch)[0], "test", c.samples)
				}
				j.above(fmt.Sprintf("log p* of test rows after %d epochs less that after %d", epochs, half),
					starDifference(star(epochs), star(half)))
			}, soFar()),
		func(c *comparison) {
			of := c.of("BiHM")[0]
			later := of.history
			later.Epochs = later.Epochs[len(later.Epochs)/4:]
			c.Draw("log-p-star", fmt.Sprintf("log p and log p* of test rows from epoch %d on; %s", later.Epochs[0].Epoch, standIn), plotting.MeasuredAlong("test", []string{"log_p", "log_p_star"}, later).Title("BiHM, test rows"))
			c.drawDreams("samples", "Means of 100 dreams, "+trainedFor(of), of)
		},
	),
	"varady/figC.6": row{cells: figC6(), onTest: true}.with(
		shown("No lasting gain; longer than 100 epochs only delays.", func(c *comparison, j *judgement) {
			for _, m := range warmed {
				ends := each(c.all(m.name+", warm-up 0", m.name+", warm-up 50", m.name+", warm-up 100"), func(of curve) float64 { return of.mean(end) })
				apart := slices.Max(ends) - slices.Min(ends)
				j.add(exact(apart, "nats", "%s: range of the ends of warm-ups of 0 to 100", m.name).Under(0.5))
			}
		}, soFar("RWS, β 0.5, warm-up 0", "NRWS, β 0.5, warm-up 0")),
		func(c *comparison) {
			for _, name := range []string{"RWS, β 0.5", "RWS, β 5", "NRWS, β 0.5", "NRWS, β 5"} {
				curves(standIn+", warm-ups: "+name, name+", warm-up 0", name+", warm-up 50", name+", warm-up 100", name+", warm-up 200")(c)
			}
		},
	),
	"bihm/fig3.9": by(func(w *work) {
		of := w.trained(largeFaces.name, "BiHM")[0]
		chain := hm.Chain{Sweeps: w.few(10, 10, 2), Candidates: w.few(100, 100, 10)}
		w.Draw("p-star", fmt.Sprintf("Faces drawn from p* by %d Gibbs iterations, %s", chain.Sweeps, trainedFor(of)), plotting.Samples(must(of.model.Gibbs(w.ctx, 12, chain, w.Progress))))
		set := w.dataset(of)
		mask := must(dataset.ParseMask("left", set.Shape(), 1))
		filled := must(of.model.Inpaint(w.ctx, of.model.Subset(set.Test(), w.few(6, 6, 2)), mask, 2, chain, w.Progress))
		w.claim("(shown) Faces are recognisable.").say("the figures are there to be looked at")
		w.Draw("inpainting", "Left halves of test rows drawn anew from p*, "+trainedFor(of), plotting.Inpainting(filled))
	}, largeFaces),
}

// The Olivetti faces replace TFD, which is not public: 320 training rows instead of some 100,000.
var smallFaces = dataset.Spec{Name: "olivettifaces-24", Binarization: dataset.Stochastic}

const standIn = "Olivetti faces in place of TFD"

// tenLayers holds the hidden layers of Várady 2025 for faces.
var tenLayers = []int{300, 200, 100, 75, 50, 35, 30, 25, 20, 20}

// onceAnEpoch lets a natural method refresh its Fisher blocks once per epoch of the 320 faces. The K of 1,000
// steps used for TFD would be a hundred epochs, so that most of a run would use the blocks of an untrained
// machine.
func onceAnEpoch(m hm.Method) hm.Method {
	if m.Spec().Metric == hm.Euclidean {
		return m
	}
	return m.RefreshEvery(10)
}

// faces returns a plan for faces of 24×24 pixels. Its curves show the test rows, measured with the number
// of samples used in training.
func faces(name string, method hm.Method, full int) plan {
	return plan{
		name: "faces-" + name, data: smallFaces, machine: dense(tenLayers...), method: onceAnEpoch(method), laptop: full / 10, full: full, seeds: 3,
		measured: []hm.Measurement{{Samples: 10}},
	}
}

// soFar ends a judgement with the progress of the given labels, or of all, on faces, whose epochs are
// short: their number of steps, and their gain over a factorised model. If one of them is below this model,
// the judgement stays open.
func soFar(labels ...string) ask {
	return func(c *comparison, j *judgement) {
		learned := true
		for _, of := range c.all(labels...) {
			set := c.dataset(of[0])
			base := of[0].run.Experiment().Baseline(set, set.Test()).Factorized.Value
			over, side := of.mean(end)-base, "above"
			if over < 0 {
				side, learned = "below", false
			}
			j.say("after %s steps %s is %.2f nats %s a factorised model", thousands(of[0].last().Step), of[0].history.Name, math.Abs(over), side)
		}
		if !learned {
			j.undecided("what is below that has not learned yet")
		}
	}
}

// The rates of Várady 2025, tables 5.2 and 5.4, for TFD.
var (
	facesRWS   = faces("rws", hm.RWS().LearningRate(0.002), 2000)
	facesNRWS  = faces("nrws", hm.NRWS().LearningRate(0.002).Damping(0.2), 2000)
	facesBiHM  = small(faces("bihm", hm.BiHM().LearningRate(0.002), 2000))
	facesNBiHM = small(faces("nbihm", hm.NBiHM().LearningRate(0.002).Damping(0.2), 2000))
)

// askGeneralising asks whether NRWS is ahead on test rows, at the best epoch of each and when log p of the
// training rows has reached the highest value that both reach.
func askGeneralising(c *comparison, j *judgement) {
	nrws, rws := c.of("NRWS"), c.of("RWS")
	reached := math.Min(nrws.mean(trainedAfter(nrws.epochs())), rws.mean(trainedAfter(rws.epochs())))
	then := func(t trained) float64 {
		for i, e := range t.history.Epochs {
			if trainedAfter(i+1)(t) >= reached {
				return heldOut(e)
			}
		}
		return end(t)
	}
	j.above("best of test rows, NRWS over RWS", c.gain(nrws, rws, best))
	j.above(fmt.Sprintf("test rows when log p of training rows has reached %.1f, NRWS over RWS", reached), c.gain(nrws, rws, then))
}

var fig519 = sleepScales("", 0.0005, func(ending string, m hm.Method) plan { return faces(ending, m, 2000) })

// fig68 returns training runs with some of the penalties that the text of Várady 2025 names.
func fig68() []cell {
	with := func(name string, set func(hm.Method) hm.Method) []cell {
		return []cell{
			{"RWS, " + name, faces("rws-"+slug(name), set(facesRWS.method), 2000), 0},
			{"NRWS, " + name, faces("nrws-"+slug(name), set(facesNRWS.method), 2000), 0},
		}
	}
	return slices.Concat([]cell{{"RWS", facesRWS, 0}, {"NRWS", facesNRWS, 0}},
		with("L1 0.0005", withL1(0.0005)), with("L1 0.01", withL1(0.01)), with("L2 0.0005", withL2(0.0005)), with("L2 0.05", withL2(0.05)))
}

// warmed holds the methods of Várady 2025, fig. C.6, each with two strengths of the regulariser. The warm-ups
// differ.
var warmed = []struct {
	name string
	plan plan
	β    float64
}{{"RWS, β 0.5", facesRWS, 0.5}, {"RWS, β 5", facesRWS, 5}, {"NRWS, β 0.5", facesNRWS, 0.5}, {"NRWS, β 5", facesNRWS, 5}}

func figC6() (cells []cell) {
	for _, m := range warmed {
		for _, epochs := range []int{0, 50, 100, 200} {
			p := faces(fmt.Sprintf("%s-entropy-%g-warm-up-%d", m.plan.name[len("faces-"):], m.β, epochs), m.plan.method.EntropyEstimator(m.β).WarmUp(epochs), 500)
			p.seeds = 1
			cells = append(cells, cell{fmt.Sprintf("%s, warm-up %d", m.name, epochs), p, 0})
		}
	}
	return cells
}

func fig73() []cell {
	bernoulli := faces("nrws-long", hm.NRWS().LearningRate(0.002).Damping(0.2), 5000)
	gaussian := faces("nrws-gaussian", hm.NRWS().LearningRate(0.0001).Damping(0.2), 200)
	gaussian.data.Binarization, gaussian.machine = dataset.Gray, gaussian.machine.Units(hm.Gaussian)
	bernoulli.seeds, gaussian.seeds = 1, 1
	return []cell{{"Bernoulli", bernoulli, 0}, {"Gaussian", gaussian, 0}}
}

func totalVariation(s dataset.Sheet) float64 {
	sum, n := 0.0, 0
	for _, image := range s.Values {
		for i, v := range image {
			if i%s.Shape.Width > 0 {
				sum, n = sum+math.Abs(v-image[i-1]), n+1
			}
			if i >= s.Shape.Width {
				sum, n = sum+math.Abs(v-image[i-s.Shape.Width]), n+1
			}
		}
	}
	return sum / float64(n)
}

// bottom returns a plan with one of the bottom layers of Várady 2025, fig. 7.8. The windows have 4×4 pixels,
// since windows of 3×3 at stride 2 do not end at an even edge. The number of dense units is not stated.
func bottom(name string, method hm.Method, layer func(hm.Machine) hm.Machine) plan {
	return plan{
		name: "large-faces-" + name, data: dataset.Spec{Name: "olivettifaces-48", Binarization: dataset.Gray},
		machine: layer(hm.New(dataset.Shape{})).Dense(75, 50, 35, 25, 20, 20).Units(hm.Gaussian),
		method:  onceAnEpoch(method.LearningRate(0.00001)), laptop: 20, full: 500, seeds: 1,
		measured: []hm.Measurement{{Samples: 10}},
	}
}

func convolved(n hm.Networks) func(hm.Machine) hm.Machine {
	return func(m hm.Machine) hm.Machine {
		return m.Convolve(hm.Convolution{Channels: 8, Height: 4, Width: 4, Stride: 2, Networks: n})
	}
}

var fig78 = []cell{
	{"conv/deconv", bottom("conv-rws", hm.RWS(), convolved(hm.BothNetworks)), 0},
	{"dense", bottom("dense-rws", hm.RWS(), func(m hm.Machine) hm.Machine { return m.Dense(300) }), 0},
	{"conv in q only", bottom("conv-q-rws", hm.RWS(), convolved(hm.RecognitionOnly)), 0},
	{"deconv in p only", bottom("conv-p-rws", hm.RWS(), convolved(hm.GenerativeOnly)), 0},
}

// largeFaces is the machine of BiHM thesis 2016, 3.6.3. Its epochs are short, and the claim is about 200 of
// them.
var largeFaces = plan{
	name: "large-faces-bihm", data: dataset.Spec{Name: "olivettifaces-48", Binarization: dataset.Stochastic},
	machine: bidirectional(1000, 700, 700, 300),
	method:  hm.BiHM().Optimizer(hm.Adam).BatchSize(100).L1(1e-5).LearningRate(0.00003), laptop: 200, full: 200, seeds: 1, part: 0.5,
	measured: []hm.Measurement{{Every: 10, Samples: 100, LogZ2: 10_000}},
}

// trainedFor ends a caption with the length of a training. TFD has some 1,000 steps in an epoch, its stand-in 4.
func trainedFor(of trained) string {
	return fmt.Sprintf("after %s steps (%d epochs); %s", thousands(of.last().Step), of.last().Epoch, standIn)
}
