package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
)

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

func columnedMaker(set string) maker {
	c := uci[slices.IndexFunc(uci, func(u uciSet) bool { return u.set == set })]
	grouped, bits := columnedPlans(c)
	return by(func(w *work) { w.makeColumned(c, grouped, bits) }, append(grouped, bits)...)
}

func (w *work) bestEpochs(p plan) curve {
	of := w.trained(p.nameAt(w.Scale), p.name)
	for i := range of {
		of[i].snapshot, of[i].model = must(of[i].run.Run.Best()), must(of[i].run.Best())
	}
	return of
}

func (w *work) makeColumned(c uciSet, grouped []plan, bits plan) {
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
}
