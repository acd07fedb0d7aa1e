package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// The learning rates and damping factors of Várady 2025, figs C.2 and C.3.
var (
	gridRates   = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.04}
	gridDamping = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}
)

func grid(name string, data dataset.Spec, layers ...int) func(reproduce.Scale) []reproduce.Training {
	return func(s reproduce.Scale) []reproduce.Training {
		return eachPair(tried(s, gridRates), tried(s, gridDamping), func(η, α float64) reproduce.Training {
			return plan{
				name: fmt.Sprintf("%s-lr-%g-damping-%g", name, η, α), data: data, machine: dense(layers...),
				method: hm.NRWS().LearningRate(η).Damping(α), laptop: 2, full: 50, seeds: 1,
			}.at(s)
		})
	}
}

var (
	miniGrid  = grid("minimnist-grid", miniMNIST, miniLayers...)
	mnistGrid = grid("mnist-grid", binarizedMNIST, 200, 100, 10)
)

// optimum is the best point of a grid, and the best rate of each damping factor for which some run did not
// diverge.
type optimum struct {
	η, α   float64
	rates  []float64
	cells  []plotting.Cell
	passed passedOver
}

func (w *work) optimum(name string) optimum {
	var o optimum
	least := math.Inf(1)
	for _, damping := range tried(w.Scale, gridDamping) {
		lowest, of := math.Inf(1), 0.0
		for _, rate := range tried(w.Scale, gridRates) {
			loss := math.NaN()
			o.passed.diverged(func() {
				loss = -w.trained(fmt.Sprintf("%s-lr-%g-damping-%g", name, rate, damping), name).mean(best)
			})
			o.cells = append(o.cells, plotting.Cell{X: rate, Y: damping, Value: loss})
			if loss < lowest {
				lowest, of = loss, rate
			}
			if loss < least {
				least, o.η, o.α = loss, rate, damping
			}
		}
		if of > 0 {
			o.rates = append(o.rates, of)
		}
	}
	return o
}

func (w *work) drawOptimum(title string, o optimum) {
	w.Draw("grid", title+": the least −log p of the validation rows (nats) within the run", plotting.HeatMap("learning rate η", "damping α", "−log p(x) (nats)", o.cells...))
}

// The refresh intervals of Várady 2025, fig. C.5. With the last of them, training breaks down in the thesis.
var fashionRefreshes = []int{100, 200, 500, 1000, 10000, 100000}

const tooSeldom = "K = 100000"

func refreshEvery(k int) string { return fmt.Sprintf("K = %d", k) }

func figC5() []cell {
	return each(fashionRefreshes, func(k int) cell {
		p := fashion(fmt.Sprintf("nrws-refresh-%d", k), hm.NRWS().LearningRate(0.001).Damping(0.1).RefreshEvery(k), 200)
		p.laptop = 4
		return cell{refreshEvery(k), p, 0}
	})
}

// gridRows holds the results of Várady 2025, app. C, that compare runs with a few settings.
var gridEntries = map[string]reproduce.Entry{
	"varady/figC.1": row{cells: threeByThree()}.with(
		curves("3by3, WS and NWS"),
		curves("3by3, WS and NWS but for the least damping", "WS, η 0.02", "WS, η 0.04", "NWS, α 0.001", "NWS, α 0.01", "NWS, α 0.1",
			"NWS, α 1"),
		func(c *comparison) {
			found := map[string]divergence{}
			var evidence []string
			for _, of := range threeByThree() {
				d := c.divergence(of.plan.name)
				found[of.number] = d
				evidence = append(evidence, fmt.Sprintf("%s: %.4f, %.4f, %.4f", of.number, mean(d.first), mean(d.last), d.noise))
			}
			ws, scaled, small := found["WS, η 0.02"], found["WS, η 0.04"], found["NWS, α 0.0001"]
			j := c.claim("Large α behaves like WS; very small α converges almost at once and stays noisy; α 0.001 to 0.1 beats WS.")
			ratio := mean(found["NWS, α 1"].last) / mean(scaled.last)
			j.add(exact(ratio, "", "α 1 over WS at the rate that α scales: ×").Over(1 / 1.5).Under(1.5))
			for _, name := range c.labels {
				if name != "NWS, α 0.0001" {
					j.above("α 0.0001 after one epoch below "+name, below(small.first, found[name].first))
					j.add(exact(small.noise/found[name].noise, "", "sd of α 0.0001 over sd of %s: ×", name).Over(1))
				}
			}
			for _, α := range []string{"0.001", "0.01", "0.1"} {
				j.above("α "+α+" at the end below WS", below(found["NWS, α "+α].last, ws.last))
			}
			j.say("exact KL in nats after one epoch, at the end, sd over the last epochs: %s", strings.Join(evidence, "; "))
			c.Beyond("On 3by3 the KL of WS is lower by %v at the rate to which α 1 scales the rate of NWS, and the KL of NWS with α 0.1 is lower than the KL of WS by %v",
				below(scaled.last, ws.last), below(found["NWS, α 0.1"].last, ws.last))
		},
	),
	"varady/figC.5": row{cells: figC5(), unstable: tooSeldom, onTest: true}.with(
		judged("K 100,000 breaks down; most others reach the same minimum.",
			within(0.5, "K = 200", "K = 100"), within(0.5, "K = 500", "K = 100"), within(0.5, "K = 1000", "K = 100"),
			func(c *comparison, j *judgement) {
				if slices.Contains(c.labels, tooSeldom) {
					j.add(c.over("K = 100", tooSeldom).of("%s behind by", tooSeldom).Over(2).Errors(0))
				}
				c.passed.note(j)
				if steps := c.of("K = 100")[0].last().Step; steps <= 10_000 {
					j.say("of %s steps K 10,000 and 100,000 compute the blocks at the first alone, and are one training", thousands(steps))
				}
			}),
		judged("K 100 has a slight advantage on test rows.", falling("K = 100", "K = 200"), falling("K = 100", "K = 500"),
			falling("K = 100", "K = 1000")),
		curves("FashionMNIST, C, NRWS, steps between refreshes"),
	),
	"varady/tableC.1": row{cells: figC5(), unstable: tooSeldom}.with(func(c *comparison) {
		for _, k := range fashionRefreshes {
			label := refreshEvery(k)
			if k == 1000 || !slices.Contains(c.labels, label) {
				continue
			}
			measure := "ratio"
			if k < 1000 {
				measure = "factor saved"
			}
			ratio, se := c.secondsRatio(label, "K = 1000", c.labels...)
			c.foundTimes(fmt.Sprintf("K %d over K 1000", k), measure, ratio, se, c.of(label))
		}
		ratio, se := c.secondsRatio("K = 1000", "K = 100", c.labels...)
		c.claim("The time saved is a reason to prefer large K.").
			add(reproduce.Measured(ratio, se, "", "seconds at K 1000 over those at K 100:").Under(0.8))
	}),
	"varady/figC.2": made(miniGrid, func(w *work) {
		o := w.optimum("minimnist-grid")
		const rounding = 1e-9
		j := w.claim("η and α rise together, up to a point; good values are α 0.005 to 0.1 with η 0.005 to 0.02.")
		j.add(fact(slices.IsSorted(o.rates), "best η does not fall as α rises"), exact(o.α, "", "best at α").Over(0.005-rounding).Under(0.1+rounding),
			exact(o.η, "", "and η").Over(0.005-rounding).Under(0.02+rounding))
		j.say("best η of each α, from %g to %g: %s; %d trainings diverged", gridDamping[0], gridDamping[len(gridDamping)-1], list("%g", o.rates), len(o.passed))
		w.drawOptimum("NRWS on miniMNIST", o)
	}),
	"varady/figC.3": made(func(s reproduce.Scale) []reproduce.Training { return slices.Concat(mnistGrid(s), miniGrid(s)) }, func(w *work) {
		o, mini := w.optimum("mnist-grid"), w.optimum("minimnist-grid")
		j := w.claim("The larger the image, the larger the α that is needed.")
		j.add(exact(o.α-mini.α, "", "best α less that on miniMNIST").Over(0))
		j.say("best at η %g, α %g; on miniMNIST at α %g; %d and %d trainings diverged", o.η, o.α, mini.α, len(o.passed), len(mini.passed))
		if o.α == mini.α {
			j.undecided("the best α is the same")
		}
		w.drawOptimum("NRWS on binarised MNIST, layers of 200, 100 and 10 units", o)
	}),
}

// threeByThree returns the training runs of Várady 2025, fig. C.1: WS, WS at the rate η(1+α)/α with α = 1,
// which NWS approaches where the Fisher matrix is small, and NWS. Each keeps its first epoch and its last
// ten.
func threeByThree() []cell {
	const η = 0.02
	of := func(number, name string, method hm.Method) cell {
		return cell{number, plan{
			name: "3by3-" + name, data: dataset.Spec{Name: "3by3"}, machine: dense(6, 3).Coding(hm.ZeroOne).Bias(0.1),
			method: method, laptop: 20, full: 100, seeds: 5, lastKept: 10,
		}, 0}
	}
	cells := []cell{of("WS, η 0.02", "ws", hm.WS().LearningRate(η)), of("WS, η 0.04", "ws-scaled", hm.WS().LearningRate(2*η))}
	return append(cells, each([]float64{0.0001, 0.001, 0.01, 0.1, 1}, func(α float64) cell {
		return of(fmt.Sprintf("NWS, α %g", α), fmt.Sprintf("nws-damping-%g", α), hm.NWS().LearningRate(η).Damping(α))
	})...)
}

// divergence holds the exact KL from the data, for each seed of a training run.
type divergence struct {
	first, last []float64 // after the first epoch and the last
	noise       float64   // sd over the last ten epochs, mean over seeds
}

func below(a, b []float64) gain { return gainOverSeeds(b, a) }

func (w *work) divergence(name string) divergence {
	at := func(epoch int) []float64 {
		return each(w.trainedAt(name, name, epoch), func(t trained) float64 {
			return keptOf(w, "exact-kl", t.snapshot, func() float64 { return must(t.model.ExactKL(w.ctx, w.dataset(t).Train())) })
		})
	}
	d := divergence{first: at(1)}
	late := make([][]float64, len(d.first))
	epochs := w.epochsOf(name)
	for epoch := max(1, epochs-9); epoch <= epochs; epoch++ {
		d.last = at(epoch)
		for seed, kl := range d.last {
			late[seed] = append(late[seed], kl)
		}
	}
	d.noise = mean(each(late, sd))
	return d
}
