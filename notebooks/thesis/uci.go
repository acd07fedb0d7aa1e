package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

var uciEntries = map[string]reproduce.Entry{
	"bihm/table3.1": by(func(w *work) {
		var similar []reproduce.Quantity
		var passed passedOver
		j := w.claim("On three of four sets, BiHM is not behind RWS by more than 0.2 nats, with machines of its own depths.")
		for _, u := range uci {
			bihm, rws := w.uciBest(u.set, "bihm", &passed), w.uciBest(u.set, "rws", &passed)
			e := w.normalized(bihm, "test", w.uciSamples())
			of := []evaluation{e}
			w.found(u.name+", −log p", "−log p", of, scaled(-1, logP))
			w.found(u.name+", −log p̃", "−log p̃", of, scaled(-1, logP)) // (3.6) of the thesis is the estimate of log p
			w.found(u.name+", −log p*", "−log p*", of, scaled(-1, logPStar))
			w.found(u.name+", −log p̃*", "−log p̃*", of, scaled(-1, logPTildeStar))
			w.found(u.name+", −2 log Z", "−log Z²", of,
				scaled(-1, func(e hm.Evaluation) (float64, runs.Float) { return *e.LogZ2, *e.LogZ2SE }))
			others := w.evaluateWith(curve{rws}, w.uciSamples())
			w.found(u.name+", RWS, −log p", "−log p", others, scaled(-1, logP))
			g := difference(of, others)
			similar = append(similar, g.of("%s, log p, BiHM − RWS", u.name).Over(-0.2).Errors(0))
			j.say("%v", similar[len(similar)-1])
		}
		j.add(atLeast(3, "not behind by more than 0.2 nats on", similar))
		passed.note(j)
	}, uciPlans()...),
	"bihm/table3.2": by(func(w *work) {
		var deeper []reproduce.Quantity
		var passed passedOver
		j := w.claim("BiHM prefers deeper machines than RWS.")
		for _, u := range uci {
			bihm := w.uciBest(u.set, "bihm", &passed)
			of := w.evaluateWith(curve{bihm}, w.uciSamples())
			w.found(u.name, "ESS, %", of, scaled(100, essOfPStar))
			shallow := w.uciBest(u.set, "bihm-with-layers-of-rws", &passed)
			g := starDifference(w.normalized(bihm, "validation", w.uciSamples()), w.normalized(shallow, "validation", w.uciSamples()))
			deeper = append(deeper, g.of("%s, validation log p* with its own layers over the layers of RWS", u.name).Over(0))
			j.say("%v", deeper[len(deeper)-1])
		}
		j.add(atLeast(3, "above on", deeper))
		passed.note(j)
	}, uciPlans()...),
	"uci-columns/adult":     columnsOf("uci/adult"),
	"uci-columns/connect4":  columnsOf("uci/connect4"),
	"uci-columns/dna":       columnsOf("uci/dna"),
	"uci-columns/mushrooms": columnsOf("uci/mushrooms"),
}

// uci holds the available sets of BiHM thesis 2016, tables 3.1 and 3.2, with the layers of its BiHM and of RWS, and
// with columns that are categorical variables.
var uci = []uciSet{
	{"ADULT", "uci/adult", []int{100, 70, 50, 25}, []int{100, 20, 5}, 500,
		columned{"5 8+ 5 16 5 7 14+ 6 5 2 2 2 5 41+", 13.65, 40, 0.1, 0.05, 400, []float64{0.002, 0.001}}},
	{"CONNECT4", "uci/connect4", []int{300, 110, 50, 20}, []int{150, 50, 10}, 300,
		columned{"42*3", 12.43, 40, 0.1, 0.05, 50, []float64{0.0007, 0.0003}}},
	{"DNA", "uci/dna", []int{200, 150, 130, 100, 70, 50, 30, 20, 10}, []int{150, 10}, 500,
		columned{"60*3+", 86.49, 60, 0.03, 0.1, 50, []float64{0.01, 0.003}}},
	{"MUSHROOM", "uci/mushrooms", []int{150, 100, 90, 60, 40, 20}, []int{150, 50, 10}, 500,
		columned{"6 4 10 2 9 2 2 2 12 2 4 4 9 9 1+ 4 3 5 9 6 7", 9.40, 200, 0.1, 0.05, 50, []float64{0.002, 0.001}}},
}

type uciSet struct {
	name, set string
	bihm, rws []int
	epochs    int // at most; BiHM thesis 2016 trains until convergence, with patience
	columned
}

// uciRates lists the rates of BiHM thesis 2016, which are also tried with RWS.
var uciRates = []float64{0.01, 0.001}

func uciPlan(set, name string, method hm.Method, layers []int, η float64, epochs int) plan {
	return plan{
		name: fmt.Sprintf("%s-%s-lr-%g", set, name, η), data: dataset.Spec{Name: set}, machine: bidirectional(layers...),
		method: method.Optimizer(hm.Adam).BatchSize(100).L1(1e-5).LearningRate(η), laptop: epochs / 20, full: epochs, seeds: 1, best: true,
	}
}

func uciPlans() []plan {
	var plans []plan
	for _, u := range uci {
		for _, η := range uciRates {
			plans = append(plans,
				uciPlan(u.set, "bihm", hm.BiHM(), u.bihm, η, u.epochs),
				uciPlan(u.set, "rws", hm.RWS(), u.rws, η, u.epochs),
				uciPlan(u.set, "bihm-with-layers-of-rws", hm.BiHM(), u.rws, η, u.epochs))
		}
	}
	return plans
}

// uciBest returns the run with the best rate of a method by validation log p, at its best epoch, since longer
// training overfits these small sets.
func (w *work) uciBest(set, name string, passed *passedOver) trained {
	highest, _ := bestOf(passed, uciRates, func(η float64) (curve, float64) {
		of := w.bestEpochs(plan{name: fmt.Sprintf("%s-%s-lr-%g", set, name, η), best: true})
		return of, of.mean(best)
	})
	return highest[0]
}

func (w *work) uciSamples() int { return w.few(1000, 1000, 20) }

// columned describes the training of machines whose visible groups are the columns of a set. Their layers are the RWS
// layers of BiHM thesis 2016, table 3.1, which also prints the published value.
type columned struct {
	columns   string    // the groups of visible units
	published float64   // the better of the printed values of −log p
	lasts     int       // epochs
	η, α      float64   // of NRWS
	refresh   int       // steps between Fisher matrices; a block of adult's largest group has 4,141 rows
	l1        []float64 // of NRWS; machines of independent bits use the first
}

// columnedPlans returns the training runs for a set: machines with groups, the best of which is chosen
// on validation rows, and a machine of independent bits.
func columnedPlans(c uciSet) (grouped []plan, bits plan) {
	groups := each(strings.Fields(c.columns), func(text string) (g hm.Groups) {
		check(g.UnmarshalText([]byte(text)))
		return g
	})
	train := func(machine hm.Machine, method hm.Method, name string, l1 float64) plan {
		return plan{
			name: fmt.Sprintf("%s-%s-l1-%g", c.set, name, l1), data: dataset.Spec{Name: c.set}, machine: machine,
			method: method.L1(l1).Schedule(hm.CosineDecay).BatchSize(32).Samples(10),
			laptop: c.lasts / 10, full: c.lasts, seeds: 3, best: true,
		}
	}
	natural := hm.NRWS().LearningRate(c.η).Damping(c.α).RefreshEvery(c.refresh)
	for _, l1 := range c.l1 {
		grouped = append(grouped, train(dense(c.rws...).Groups(groups...), natural, "groups-nrws", l1))
	}
	for _, l1 := range []float64{0.001, 0.0001} {
		grouped = append(grouped, train(dense(c.rws...).Groups(groups...), hm.RWS().Optimizer(hm.Adam).LearningRate(0.001), "groups-rws-adam", l1))
	}
	return grouped, train(dense(c.rws...), natural, "bits-nrws", c.l1[0])
}

// columnsOf returns the entry on machines whose visible groups are the columns of a set.
func columnsOf(set string) reproduce.Entry {
	c := uci[slices.IndexFunc(uci, func(u uciSet) bool { return u.set == set })]
	grouped, bits := columnedPlans(c)
	return by(func(w *work) {
		var passed passedOver
		chosen, at := bestOf(&passed, grouped, func(p plan) (curve, float64) {
			of := w.bestEpochs(p)
			return of, of.mean(best)
		})
		tested, ofBits := w.evaluateWith(chosen, w.uciSamples()), w.evaluateWith(w.bestEpochs(bits), w.uciSamples())
		w.found(c.name+", −log p", "−log p", tested, scaled(-1, logP))
		w.Beside(c.name+", independent bits, −log p", "−log p", value(ofBits, scaled(-1, logP)))

		published := w.claim("At or below the better published value.")
		mean := spread(logPs(tested))
		se := max(mean.SD/math.Sqrt(float64(len(tested))), float64(tested[0].LogPSE))
		above := -mean.Mean - c.published
		published.add(gain{above, se, len(tested)}.of("%s, −log p less the published value", grouped[at].name).Under(0).Errors(-2))
		passed.note(published)
		w.claim("Groups are ahead of independent bits.").above("log p of groups over independent bits", difference(tested, ofBits))
	}, append(grouped, bits)...)
}

func (w *work) bestEpochs(p plan) curve {
	of := w.trained(p.nameAt(w.Scale), p.name)
	for i := range of {
		of[i].snapshot, of[i].model = must(of[i].run.Run.Best()), must(of[i].run.Best())
	}
	return of
}
