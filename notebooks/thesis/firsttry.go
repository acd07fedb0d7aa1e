package thesis

import (
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// A firstTry is a set on which the settings that hm.Suggested chooses are compared with tuned settings.
type firstTry struct {
	name    string
	data    dataset.Spec
	machine hm.Machine
	tuned   hm.Method
}

// tunedNRWS returns NRWS with settings that a search on validation rows found.
func tunedNRWS(rate, damping float64, refresh int, l1 float64, epochs int) hm.Method {
	return hm.NRWS().LearningRate(rate).Schedule(hm.CosineDecay).Damping(damping).RefreshEvery(refresh).L1(l1).Epochs(epochs)
}

// firstTries has the sets with their tuned settings. The UCI sets have the settings of notebooks/experiments.
var firstTries = []firstTry{
	{"glyphs", dataset.Spec{Name: "glyphs"}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 281, 0.0011, 88)},
	{"miniglyphs", dataset.Spec{Name: "miniglyphs"}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 281, 0.0011, 88)},
	{"MNIST, 300 rows", dataset.Spec{Name: "mnist", Subset: 300, Validation: new(1000)}, dense(200, 100, 50), tunedNRWS(0.03, 0.2, 10, 0.003, 40)},
	{"MNIST, 3,000 rows", dataset.Spec{Name: "mnist", Subset: 3000, Validation: new(1000)}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 93, 0.0033, 266)},
	{"miniMNIST, 1,500 rows", dataset.Spec{Name: "minimnist", Subset: 1500, Validation: new(1000)}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 46, 0.0067, 400)},
	{"FashionMNIST, 3,000 rows", dataset.Spec{Name: "fashion", Subset: 3000, Validation: new(1000)}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 93, 0.0033, 266)},
	{"adult", dataset.Spec{Name: "uci/adult"}, dense(100, 70, 50, 25), tunedNRWS(0.1, 0.05, 100, 0.002, 80)},
	{"mushrooms", dataset.Spec{Name: "uci/mushrooms"}, dense(150, 100, 90, 60, 40, 20), tunedNRWS(0.1, 0.05, 50, 0.002, 200)},
	{"connect4", dataset.Spec{Name: "uci/connect4"}, dense(300, 110, 50, 20),
		hm.NBiHM().LearningRate(0.1).Schedule(hm.CosineDecay).Damping(0.05).RefreshEvery(500).L1(0.0007).Epochs(100)},
	{"dna", dataset.Spec{Name: "uci/dna"}, dense(200, 150, 130, 100, 70, 50, 30, 20, 10), tunedNRWS(0.03, 0.1, 40, 0.01, 100).WarmUp(60)},
}

// plans returns the plans with the suggested and with the tuned settings, given all data sets.
func (f firstTry) plans(all []dataset.Info) (suggested, tuned plan) {
	rows, shape := f.data.Subset, dataset.Shape{}
	for _, info := range all {
		if info.Name == f.data.Name {
			shape = info.Shape
			if rows == 0 {
				rows = info.Train
			}
		}
	}
	machine, method := hm.SuggestedFor(shape, rows, f.data.Binarization)
	of := func(kind string, machine hm.Machine, method hm.Method) plan {
		epochs := method.Budget().Epochs
		return plan{name: fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(f.data.Name, "/", "-"), rows, kind),
			data: f.data, machine: machine, method: method, laptop: epochs, full: epochs, seeds: 1}
	}
	return of("suggested", machine, method), of("tuned", f.machine, f.tuned)
}

// firstTryTrainings returns all training runs. It looks up the sets only when it is called, which spares
// programs that reproduce nothing.
func firstTryTrainings(s reproduce.Scale) (trainings []reproduce.Training) {
	all := dataset.List()
	for _, f := range firstTries {
		suggested, tuned := f.plans(all)
		trainings = append(trainings, suggested.at(s), tuned.at(s))
	}
	return trainings
}

func makeFirstTry(w *work) {
	above := w.claim("Suggested settings learn on each of ten sets.")
	near := w.claim("Suggested settings gain at least nine tenths of what tuned settings gain, on eight of ten sets.")
	var reached []reproduce.Quantity
	all := dataset.List()
	for _, f := range firstTries {
		first, best := f.plans(all)
		gains := each([]plan{first, best}, func(p plan) gain {
			of := w.trained(p.name, f.name)[0]
			e := w.estimate(of, "validation", w.few(0, 0, 20), w.few(1000, 100, 10))
			base := of.history.Baseline.Factorized
			return gain{float64(e.LogP) - base.Value, math.Hypot(float64(e.LogPSE), base.SE), e.Data}
		})
		above.add(gains[0].of("%s above the factorised model", f.name).Over(0).Errors(3))
		part := gains[0].nats / gains[1].nats
		reached = append(reached, exact(part, "", "%s", f.name).Over(0.9))
		near.say("%s %.1f %% of %v", f.name, 100*part, gains[1])
	}
	near.add(atLeast(8, "at least 90 % on", reached))
}
