package thesis

import (
	"math"
	"slices"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The data sets of the theses. B and C are Várady's names for pixels rounded once, and for grey levels as
// the probabilities of draws at each step.
var (
	binarizedMNIST = dataset.Spec{Name: "binarized-mnist"}
	drawnMNIST     = dataset.Spec{Name: "mnist", Binarization: dataset.Stochastic}
	miniMNIST      = dataset.Spec{Name: "minimnist"}
	miniMNISTDrawn = dataset.Spec{Name: "minimnist", Binarization: dataset.Stochastic}
)

// The hidden layers of the theses' machines (Várady 2025, App. A.1).
var (
	twelveLayers = []int{300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10}
	miniLayers   = []int{100, 50, 20, 10, 10}
)

// plan describes a training run as a thesis reports it.
type plan struct {
	name     string // the name of its reproduce.Training
	data     dataset.Spec
	machine  hm.Machine
	method   hm.Method
	laptop   int // epochs
	full     int // epochs, as published
	seeds    int
	once     bool             // whether a laptop trains only one seed
	part     float64          // part of the epochs after which a checkpoint is kept
	until    float64          // part of the epochs of a longer run after which this run ends; 0 for all
	lastKept int              // number of last epochs that are all kept, together with the first
	measured []hm.Measurement // during training
	steps    int              // number of steps between records of single steps; 0 for none
	from     *plan            // the plan from whose end it starts
	best     bool             // whether its best epoch counts
	float32  bool             // whether fixed point is not used even if it is exact
}

// dense returns a machine of dense layers with the settings of Várady 2025.
func dense(layers ...int) hm.Machine { return hm.New(dataset.Shape{}).Dense(layers...) }

// kept lists the epochs whose checkpoints a run keeps, so that results can be made from runs that are still
// training.
var kept = []int{50, 100, 200, 500, 1000, 1500}

// at returns the training run at a scale. At the scale smoke it has the same depth and method, but few rows,
// units and samples.
func (p plan) at(s reproduce.Scale) reproduce.Training {
	e := hm.Experiment{
		Data: runs.Data{Dataset: p.data}, Machine: p.machine.Spec(), Method: p.method.Spec(),
		Budget: runs.Budget{Epochs: p.epochs(s), Seed: 1, RecordSteps: p.steps}, Measurements: p.measured,
	}
	e.Method.Arithmetic = p.arithmetic()
	t := reproduce.Training{Name: p.nameAt(s), Seeds: p.seeds, Arithmetic: e.Method.Arithmetic.String()}
	if s == reproduce.Laptop && p.once {
		t.Seeds = 1
	}
	if s == reproduce.Smoke {
		p.shrink(&e)
		t.Seeds = min(p.seeds, 2)
	}
	before := func(end int, epochs []int) []int {
		return slices.DeleteFunc(epochs, func(epoch int) bool { return epoch >= end })
	}
	t.Needs = before(e.Epochs, p.needs(p.whole(s)))
	e.Keep = before(max(p.full, e.Epochs), reproduce.Union(kept, p.needs(p.whole(s)), []int{p.laptop}, p.needs(p.laptop)))
	if p.from != nil {
		from := p.from.at(s)
		t.From, t.Begin = &from, begin
	}
	t.Experiment = e
	return t
}

// arithmetic returns fixed point if it is exact: on the CPU engine, with only dense and binary layers.
// Otherwise it returns float32.
func (p plan) arithmetic() hm.Arithmetic {
	m := p.machine.Spec()
	device, _, err := hm.Device()
	if p.float32 || err != nil || device != "cpu" || len(m.Convolutions) > 0 || slices.Contains(m.Units, hm.Gaussian) {
		return hm.FloatingPoint
	}
	return hm.FixedPoint
}

// nameAt returns the name of the training run at a scale. A run that starts from the end of another, or
// counts at its best epoch, is a different run at each scale.
func (p plan) nameAt(s reproduce.Scale) string {
	if p.from != nil || p.best {
		return p.name + "-" + string(s)
	}
	return p.name
}

func (p plan) needs(epochs int) []int {
	var needs []int
	if p.part > 0 {
		needs = append(needs, partOf(p.part, epochs))
	}
	if p.lastKept > 0 {
		needs = append(needs, 1)
	}
	for i := range min(p.lastKept, epochs) {
		needs = append(needs, epochs-i)
	}
	return needs
}

// epochs returns the number of epochs at a scale, and whole the number of epochs of the longer run that
// begins with them.
func (p plan) epochs(s reproduce.Scale) int {
	if p.until > 0 {
		return partOf(p.until, p.whole(s))
	}
	return p.whole(s)
}

func (p plan) whole(s reproduce.Scale) int {
	return epochsAt(s, p.laptop, p.full)
}

func epochsAt(s reproduce.Scale, laptop, full int) int {
	return map[reproduce.Scale]int{reproduce.Smoke: 2, reproduce.Laptop: laptop, reproduce.Full: full}[s]
}

// partOf returns a part of a number of epochs, at least one.
func partOf(part float64, epochs int) int {
	return max(1, int(math.Round(part*float64(epochs))))
}

func begin(e runs.Experiment, dir string, epoch int) runs.Experiment {
	of := e.(hm.Experiment)
	of.Start = &runs.Source{Run: dir, Checkpoint: strconv.Itoa(epoch)}
	return of
}

func (p plan) shrink(e *hm.Experiment) {
	e.Dataset.Name = madeUp(e.Dataset.Name)
	e.Dataset.Subset, e.Dataset.Labels = 128, min(e.Dataset.Labels, 50)
	if e.Machine.Groups != nil {
		e.Machine.Groups = []hm.Groups{{Count: 196, Units: 1, Rest: true}} // of the made-up images
	}
	e.Machine.Layers = slices.Clone(e.Machine.Layers)
	for i, units := range e.Machine.Layers {
		e.Machine.Layers[i] = min(units, 6)
	}
	e.Method.Samples = min(e.Method.Samples, 3)
	e.Method.BatchSize = min(e.Method.BatchSize, 32)
	e.Measurements = slices.Clone(e.Measurements)
	for i := range e.Measurements {
		m := &e.Measurements[i]
		m.Every, m.Rows, m.Samples, m.LogZ2 = 1, 20, 10, min(m.LogZ2, 100)
	}
}

// madeUp returns the generated set that replaces another set at the scale smoke.
func madeUp(name string) string {
	switch name {
	case "binarized-mnist", "fashion":
		return "glyphs"
	case "3by3":
		return "3by3"
	case "jsb":
		return "voices"
	}
	return "miniglyphs"
}
