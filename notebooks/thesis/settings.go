package thesis

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// The data sets of the documents. B and C are 004's names: pixels rounded once, and
// grey levels as probabilities that are drawn at each step.
var (
	binarizedMNIST = dataset.Spec{Name: "binarized-mnist"}
	miniMNIST      = dataset.Spec{Name: "minimnist"}
	miniMNISTDrawn = dataset.Spec{Name: "minimnist", Binarization: dataset.Stochastic}
)

// The hidden layers of the documents' machines (004, App. A.1).
var (
	twelveLayers = []int{300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10}
	miniLayers   = []int{100, 50, 20, 10, 10}
)

// plan is a training as the documents describe it.
type plan struct {
	name    string // as of reproduce.Training
	data    dataset.Spec
	machine hm.Machine
	method  hm.Method
	laptop  int // epochs
	full    int
	seeds   int
}

// dense is a machine of dense layers with the settings of 004.
func dense(layers ...int) hm.Machine { return hm.New(dataset.Shape{}).Dense(layers...) }

// kept are the epochs whose checkpoints a run keeps, for shorter scales to be made of
// longer ones while these go on.
var kept = []int{50, 100, 200, 500, 1000, 1500}

// at is the training of the plan at a scale. That of smoke has the same depth and
// method, and few rows, units and samples.
func (p plan) at(s reproduce.Scale) reproduce.Training {
	e := hm.Experiment{Dataset: p.data, Machine: p.machine.Spec(), Method: p.method.Spec(), Seed: 1}
	t := reproduce.Training{Name: p.name, Seeds: p.seeds}
	switch s {
	case reproduce.Smoke:
		e.Dataset.Name = synthetic[e.Dataset.Name]
		e.Dataset.Subset = 128
		e.Machine.Layers = slices.Clone(e.Machine.Layers)
		for i, units := range e.Machine.Layers {
			e.Machine.Layers[i] = min(units, 6)
		}
		e.Method.Samples = 3
		e.Epochs, e.Keep, t.Seeds = 2, []int{1}, min(p.seeds, 2)
	case reproduce.Laptop:
		e.Epochs = p.laptop
	default:
		e.Epochs = p.full
	}
	for _, epoch := range append(kept, p.laptop) {
		if s != reproduce.Smoke && epoch < p.full {
			e.Keep = append(e.Keep, epoch)
		}
	}
	slices.Sort(e.Keep)
	e.Keep = slices.Compact(e.Keep)
	t.Experiment = e
	return t
}

// synthetic are the sets of this program's own that stand in at the scale smoke.
var synthetic = map[string]string{"binarized-mnist": "glyphs", "minimnist": "miniglyphs", "fashion": "glyphs", "3by3": "3by3"}
