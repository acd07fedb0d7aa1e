package boltzmann

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
)

// draft is an experiment that flags change.
type draft struct {
	experiment Experiment
	algorithm  Algorithm    // of the experiment's file
	start      *runs.Source // of the experiment's file
	layers     []int
	units      []Kind
	belief     bool
	pretrain   int     // epochs
	rate       float64 // of pretraining; 0 means the learning rate of training
	on         string  // directory of a run
}

func newDraft() *runs.Draft {
	d := &draft{}
	d.read(NewExperiment(Persistent))
	return &runs.Draft{
		Data: &d.experiment.Data, Budget: &d.experiment.Budget, Start: &d.experiment.Start, Settings: d.settings, Jobs: d.jobs,
		Experiment: func() (runs.Experiment, error) { return d.described() },
		Preset: func(name string) error {
			var a Algorithm
			err := a.UnmarshalText([]byte(name))
			if err == nil && a != d.algorithm {
				d.experiment.Method = usual(a).spec
			}
			return err
		},
		Read: func(text []byte) error {
			e, err := ParseExperiment(text)
			d.read(e)
			return err
		},
	}
}

func (d *draft) read(e Experiment) {
	d.experiment, d.algorithm, d.start = e, e.Method.Algorithm, e.Start
	d.layers, d.units = slices.Concat([]int{e.Machine.Hidden}, e.Machine.Above), []Kind{e.Machine.Visible, e.Machine.HiddenUnits}
}

func (d *draft) settings() []runs.Hyperparameter {
	const own, belief = "Boltzmann machines", "cd, pcd, pt, ptt: train a "
	rows := d.experiment.Method.Hyperparameters()
	for i := range rows {
		if rows[i].Flag == "variance-rate" {
			rows[i].Idle = runs.Unless(len(d.units) > 0 && d.units[0] == Gaussian, "gaussian visible units (--units gaussian)")
		}
	}
	return slices.Concat([]runs.Hyperparameter{
		{Value: &d.layers, Flag: "layers", Group: "machine", Usage: "units of the hidden layers, bottom up: one number for a restricted machine, several for a deep one"},
		{Value: &d.units, Flag: "units", Group: "machine", Usage: "`kinds` of the visible and the hidden units: bernoulli, gaussian or categorical"},
	}, rows, d.experiment.Machine.Hyperparameters(), []runs.Hyperparameter{
		{Value: &d.belief, Flag: "belief", Group: own, Usage: belief + "deep belief network, layer by layer, for --epochs each, into layer-1, layer-2 and so on in --out"},
		{Value: &d.pretrain, Flag: "pretrain", Group: own, Usage: "cd, pcd, pt: pretrain each layer of a deep machine for `EPOCHS` by contrastive divergence, into layer-1, layer-2 and so on in --out, and then train the machine into deep"},
		{Value: &d.rate, Flag: "pretrain-lr", Group: own, Usage: "learning `rate` of --pretrain (default: --lr)", Idle: runs.Unless(d.pretrain > 0, "--pretrain")},
		{Value: &d.on, Flag: "on", Group: own, Run: true, Usage: belief + "layer on top of the run in `DIR`, as part of a deep belief network, on its data unless --config or --dataset names other data"},
	})
}

// described returns the experiment that the flags describe.
func (d *draft) described() (Experiment, error) {
	e := d.experiment
	switch {
	case len(d.layers) == 0:
		return e, errors.New("--layers: give the number of hidden units in each layer of the Boltzmann machine, such as 500 or 500,1000")
	case len(d.units) > 2:
		return e, fmt.Errorf("--units %v: give the kind of the visible units and, optionally, of the hidden units", d.units)
	case d.pretrain < 0:
		return e, fmt.Errorf("--pretrain=%d: give at least 1", d.pretrain)
	case d.on != "" && doubles(d.on):
		return e, fmt.Errorf("--on %s: this layer of a deep machine was trained with one side doubled and cannot be part of a belief network: train the layers with --belief", d.on)
	case d.on != "":
		e.Below = &runs.Source{Run: d.on}
	}
	e.Machine.Hidden, e.Machine.Above = d.layers[0], d.layers[1:]
	e.Machine.Visible, e.Machine.HiddenUnits = d.units[0], append(slices.Clone(d.units), Bernoulli)[1]
	switch {
	case e.Start != d.start: // flags name another run, which has the parameters of all layers
		e.Pretrained = nil
	case d.belief || d.pretrain > 0: // layers start from random weights, whatever the file starts from
		e.Start, e.Pretrained, e.Imported = nil, nil, nil
	}
	return e, nil
}

// jobs returns the trainings that the flags describe, in the directory dir: one, or one for each layer.
func (d *draft) jobs(dir string) ([]runs.Job, error) {
	e, err := d.described()
	switch {
	case err != nil:
		return nil, err
	case d.belief && d.pretrain > 0:
		return nil, errors.New("--pretrain with --belief: only deep machines are pretrained, and a belief network is complete when its layers are; omit one of them")
	case d.belief:
		return e.Layers(dir)
	case d.pretrain > 0:
		return e.Pretraining(dir, d.pretrain, cmp.Or(d.rate, e.Method.LearningRate))
	}
	return []runs.Job{{Experiment: e, Dir: dir}}, nil
}
