package thesis

import (
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
)

// columned is a UCI set whose columns are categorical variables, with the layers of RWS in BiHM thesis
// 2016, table 3.1, and the better of the values of −log p that it prints.
type columned struct {
	name      string
	columns   string // the groups of visible units
	layers    []int
	published float64
	epochs    int
	η, α      float64   // of NRWS
	refresh   int       // steps between Fisher matrices; a block of adult's largest group has 4,141 rows
	l1        []float64 // of NRWS, the first for machines of independent bits, too
}

var columnedSets = map[string]columned{
	"uci/adult":     {"ADULT", "5 8+ 5 16 5 7 14+ 6 5 2 2 2 5 41+", []int{100, 20, 5}, 13.65, 40, 0.1, 0.05, 400, []float64{0.002, 0.001}},
	"uci/connect4":  {"CONNECT4", "42*3", []int{150, 50, 10}, 12.43, 40, 0.1, 0.05, 50, []float64{0.0007, 0.0003}},
	"uci/dna":       {"DNA", "60*3+", []int{150, 10}, 86.49, 60, 0.03, 0.1, 50, []float64{0.01, 0.003}},
	"uci/mushrooms": {"MUSHROOM", "6 4 10 2 9 2 2 2 12 2 4 4 9 9 1+ 4 3 5 9 6 7", []int{150, 50, 10}, 9.40, 100, 0.1, 0.05, 50, []float64{0.002, 0.001}},
}

// columnedPlans returns the trainings of a set: machines with groups, from which validation rows
// choose, and a machine of independent bits.
func columnedPlans(set string) (grouped []plan, bits plan) {
	c := columnedSets[set]
	groups := each(strings.Fields(c.columns), func(text string) (g hm.Groups) {
		check(g.UnmarshalText([]byte(text)))
		return g
	})
	train := func(machine hm.Machine, method hm.Method, name string, l1 float64) plan {
		return plan{
			name: fmt.Sprintf("%s-%s-l1-%g", set, name, l1), data: dataset.Spec{Name: set}, machine: machine,
			method: method.L1(l1).Schedule(hm.CosineDecay).BatchSize(32).Samples(10),
			laptop: c.epochs / 10, full: c.epochs, seeds: 3, best: true,
		}
	}
	natural := hm.NRWS().LearningRate(c.η).Damping(c.α).RefreshEvery(c.refresh)
	for _, l1 := range c.l1 {
		grouped = append(grouped, train(dense(c.layers...).Groups(groups...), natural, "groups-nrws", l1))
	}
	for _, l1 := range []float64{0.001, 0.0001} {
		grouped = append(grouped, train(dense(c.layers...).Groups(groups...), hm.RWS().Optimizer(hm.Adam).LearningRate(0.001), "groups-rws-adam", l1))
	}
	return grouped, train(dense(c.layers...), natural, "bits-nrws", c.l1[0])
}

// columnedMaker returns how the result of a set is made.
func columnedMaker(set string) maker {
	grouped, bits := columnedPlans(set)
	return by(func(w *work) { w.makeColumned(columnedSets[set], grouped, bits) }, append(grouped, bits)...)
}

// bestEpochs returns the seeds of a training at their best epochs.
func (w *work) bestEpochs(p plan) curve {
	of := w.trained(p.nameAt(w.Scale), p.name)
	for i := range of {
		of[i].snapshot, of[i].model = must(of[i].run.Run.Best()), must(of[i].run.Best())
	}
	return of
}

func (w *work) makeColumned(c columned, grouped []plan, bits plan) {
	var passed passedOver
	chosen, at := bestOf(&passed, grouped, func(p plan) (curve, float64) {
		of := w.bestEpochs(p)
		return of, of.mean(best)
	})
	tested, ofBits := w.evaluateWith(chosen, w.uciSamples()), w.evaluateWith(w.bestEpochs(bits), w.uciSamples())
	w.found(c.name+", −log p", "−log p", tested, scaled(-1, logP))
	w.Beside(c.name+", independent bits, −log p", "−log p", value(ofBits, scaled(-1, logP)))

	var published, better judgement
	mean := spread(logPs(tested))
	se := max(mean.SD/math.Sqrt(float64(len(tested))), float64(tested[0].LogPSE))
	above := -mean.Mean - c.published
	published.add(holdsIf(above <= 2*se), "%s, −log p less the published value %v", grouped[at].name, gain{above, se})
	passed.note(&published)
	w.judgeFull("At or below the better published value.", published)
	better.above("log p of groups over independent bits", difference(tested, ofBits))
	w.judge("Groups are ahead of independent bits.", better)
}
