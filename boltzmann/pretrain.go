package boltzmann

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A deep Boltzmann machine can be pretrained greedily (Salakhutdinov and Hinton 2009). Contrastive divergence
// trains a restricted machine for each pair of neighbouring layers: the first machine on the data, and each
// other machine on hidden units drawn from the machine below. In the deep machine, a layer between two others
// gets input from both sides; in a restricted machine it gets input from one side alone, which is therefore
// doubled. So the hidden units of the lowest machine see the visible ones doubled, and the visible units of
// the highest see the hidden ones doubled:
//
//	lowest    p(h=1|v) = σ(c + 2Wᵀv)   p(v=1|h) = σ(b + Wh)
//	highest   p(h=1|v) = σ(c + Wᵀv)    p(v=1|h) = σ(b + 2Wh).
//
// The machines in between have both sides doubled: they are plain machines with twice the weights. In the
// deep machine, the input of a layer between two others is the mean of its inputs in the two machines that
// share it. So the deep machine takes W of the lowest and the highest machine, and W/2 of the machines in
// between. A layer that two machines share gets the mean of their biases.

// Doubled is the side of a restricted machine that the other side sees doubled.
type Doubled int

const (
	DoubledNeither Doubled = iota
	DoubledVisible         // the hidden units see 2v: the lowest layer of a deep machine
	DoubledHidden          // the visible units see 2h: the highest layer of a deep machine
)

var doubledNames = names.New("doubled side", "neither", "visible", "hidden")

func (d Doubled) String() string                { return doubledNames.Name(int(d)) }
func (d Doubled) MarshalText() ([]byte, error)  { return doubledNames.Marshal(int(d)) }
func (d *Doubled) UnmarshalText(t []byte) error { return doubledNames.Parse((*int)(d), t) }

// factors returns the factors with which the hidden units see the visible ones, and the visible units see the
// hidden ones.
func (d Doubled) factors() (up, down float32) {
	switch d {
	case DoubledVisible:
		return 2, 1
	case DoubledHidden:
		return 1, 2
	}
	return 1, 1
}

// checkDistribution refuses layers that were trained for a deep machine, since no joint distribution has the
// conditional probabilities of their two sides.
func (m *Model) checkDistribution() error {
	if m.parameters.Spec.Doubled == DoubledNeither && m.below.doubled() == DoubledNeither {
		return nil
	}
	return ErrNoDistribution
}

// ErrNoDistribution is the error for methods that need the distribution of a layer that was trained with one
// side doubled.
var ErrNoDistribution = errors.New("a layer that was trained for a deep machine, with one side doubled, defines no distribution: give the run of the deep machine")

// Pretrained names the runs of the layers from which a deep machine begins.
type Pretrained struct {
	Runs []string `toml:"runs" json:"runs,omitempty"` // directories, the lowest layer first
	// Parameters is the SHA-256 of the parameters of all layers. Training writes it; if it is set, training
	// refuses other parameters.
	Parameters string `toml:"parameters,omitempty" json:"parameters,omitempty"`
}

// MarshalJSON omits the directories if there is a checksum, as runs.Source does.
func (t Pretrained) MarshalJSON() ([]byte, error) {
	if t.Parameters != "" {
		t.Runs = nil
	}
	type plain Pretrained
	return json.Marshal(plain(t))
}

// TrainPretrained trains the layers of a deep machine greedily: each layer by contrastive divergence, for
// some epochs at a learning rate. Then it trains the whole machine by the method. The runs of the layers are
// in dir/layer-1, dir/layer-2 and so on. TrainPretrained returns the run of the whole machine, which is in
// dir/deep. Like Train, it resumes where it stopped.
func (m Method) TrainPretrained(ctx context.Context, machine Machine, set *dataset.Set, dir string, epochs int, rate float64, recorders ...runs.Recorder) (*Run, error) {
	jobs, err := m.Experiment(machine, set).Pretraining(dir, epochs, rate)
	if err == nil {
		err = jobs[len(jobs)-1].Experiment.Check(set) // before layers are trained for it
	}
	if err != nil {
		return nil, err
	}
	return trainJobs(ctx, jobs, set, recorders...)
}

// Pretraining returns the jobs that train the layers of a deep machine, in folders of the directory
// dir. Each trains its layer on the run of the previous layer, by contrastive divergence for some epochs at a
// learning rate. The last job is the deep machine, which begins from these layers.
func (e Experiment) Pretraining(dir string, epochs int, rate float64) ([]runs.Job, error) {
	if len(e.Machine.Above) == 0 {
		return nil, errors.New("pretraining of one hidden layer: only deep machines are pretrained; give more layers")
	}
	layer := e
	layer.Epochs, layer.Keep = epochs, nil
	layer.Method.Algorithm, layer.Method.LearningRate = Contrastive, rate
	layer.Method.Temperatures, layer.Method.MeanField = 0, 0
	jobs, err := layer.Layers(dir)
	if err != nil {
		return nil, err
	}
	e.Pretrained = &Pretrained{}
	for l, j := range jobs {
		layer := j.Experiment.(Experiment)
		switch l {
		case 0:
			layer.Machine.Doubled = DoubledVisible
		case len(jobs) - 1:
			layer.Machine.Doubled = DoubledHidden
		}
		jobs[l].Experiment = layer
		e.Pretrained.Runs = append(e.Pretrained.Runs, j.Dir)
	}
	return append(jobs, runs.Job{Setting: "the deep machine", Experiment: e, Dir: filepath.Join(dir, "deep")}), nil
}

func (t *Pretrained) read(layers []int) (stack, error) {
	var s stack
	for l, dir := range t.Runs {
		run, err := OpenRun(dir)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", l+1, err)
		}
		p, wanted := run.Model.parameters, DoubledNeither
		switch l {
		case 0:
			wanted = DoubledVisible
		case len(t.Runs) - 1:
			wanted = DoubledHidden
		}
		if p.Visible() != layers[l] || p.Hidden() != layers[l+1] || p.Spec.Doubled != wanted || !p.Spec.plain() || p.Layers != nil {
			return nil, fmt.Errorf("layer %d, %s: %v is no machine between %d and %d units with %v doubled: pretrain the layers of this deep machine",
				l+1, dir, run.Experiment(), layers[l], layers[l+1], wanted)
		}
		s = append(s, p)
	}
	if is := s.checksum(); t.Parameters != "" && t.Parameters != is {
		return nil, fmt.Errorf("the parameters of the layers in %s no longer match the experiment (SHA-256 %.12s, not %.12s): restore their directories, or start a new run in another directory",
			filepath.Dir(t.Runs[0]), is, t.Parameters)
	}
	return s, nil
}

// resolved returns t with its checksum and absolute paths.
func (t *Pretrained) resolved(layers []int) (*Pretrained, error) {
	s, err := t.read(layers)
	if err != nil {
		return nil, err
	}
	to := &Pretrained{Parameters: s.checksum()}
	for _, dir := range t.Runs {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		to.Runs = append(to.Runs, whole)
	}
	return to, nil
}

// plain reports whether all units are Bernoulli, without a label.
func (s MachineSpec) plain() bool {
	return s.Visible == Bernoulli && s.HiddenUnits == Bernoulli && s.Classes == 0
}

// checkPretrained refuses a doubled side and pretrained layers together with settings that exclude them.
func (e Experiment) checkPretrained() error {
	switch s := e.Method; {
	case e.Machine.Doubled != DoubledNeither && (!e.Machine.plain() || len(e.Machine.Above) > 0):
		return fmt.Errorf("doubled = %v: only restricted machines of Bernoulli units, the layers of deep machines, have a doubled side; leave it out", e.Machine.Doubled)
	case e.Machine.Doubled != DoubledNeither && (s.Algorithm != Contrastive || s.Metric != Euclidean):
		return fmt.Errorf("doubled = %v with the algorithm %v and the metric %v: layers of a deep machine are pretrained by plain contrastive divergence; use cd", e.Machine.Doubled, s.Algorithm, s.Metric)
	case e.Pretrained != nil && len(e.Pretrained.Runs) != 1+len(e.Machine.Above):
		return fmt.Errorf("%d pretrained layers of a machine with %d hidden layers: name the run of each", len(e.Pretrained.Runs), 1+len(e.Machine.Above))
	case e.Pretrained != nil && (len(e.Machine.Above) == 0 || e.Below != nil):
		return errors.New("pretrained layers of one hidden layer: only deep machines are pretrained; leave them out")
	}
	return nil
}

// compose writes the parameters of the deep machine that consists of the layers.
func (p *Parameters) compose(layers stack) {
	biases := func(layer int) []float32 {
		first, last := p.units(layer)
		return [][]float32{p.VisibleBiases, p.HiddenBiases}[layer%2][first:last]
	}
	for l, of := range layers {
		factor := float32(1)
		if of.Spec.Doubled == DoubledNeither {
			factor = 0.5
		}
		below, _ := p.units(l)
		above, _ := p.units(l + 1)
		for i := range of.Visible() {
			for j, w := range kernels.Row(of.Weights, i) {
				even, odd := below+i, above+j
				if l%2 == 1 {
					even, odd = odd, even
				}
				kernels.Row(p.Weights, even)[odd] = factor * w
			}
		}
		copy(biases(l+1), of.HiddenBiases)
	}
	copy(biases(0), layers[0].VisibleBiases)
	for l, of := range layers[1:] {
		for k, b := range of.VisibleBiases {
			shared := &biases(l + 1)[k]
			*shared = (*shared + b) / 2
		}
	}
}
