package hm

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// draft returns an experiment that flags change.
func draft() *runs.Draft {
	e := NRWS().Experiment(New(dataset.Shape{}).Dense(100, 50, 20), nil)
	var measure []string
	var like MachineSpec // whose kinds of units suit the data
	return &runs.Draft{
		Data: &e.Data, Budget: &e.Budget, Start: &e.Start, Labels: true,
		Settings: func() []runs.Hyperparameter {
			return slices.Concat([]runs.Hyperparameter{{
				Value: &measure, Flag: "measure", Group: "run",
				Usage: "measure likelihoods during training: `WHAT` is a list of every=EPOCHS, split=test, rows=N, samples=K, log-z2=N, log-z2-inner=N, name=NAME; may be repeated",
			}}, e.Machine.Hyperparameters(), e.Method.Hyperparameters())
		},
		Suggest: func(set *dataset.Set, all bool) {
			machine, method := Suggested(set)
			if like = machine.Spec(); all {
				e = method.Experiment(machine.Units(), set)
			}
		},
		Preset: func(name string) error {
			method, err := Preset(name)
			e.Method = method.spec
			return err
		},
		Read: func(text []byte) (err error) {
			e, err = ParseExperiment(text)
			return err
		},
		Experiment: func() (runs.Experiment, error) {
			if m := &e.Machine; len(m.Units)+len(m.Groups) == 0 && len(like.Units)+len(like.Groups) > 0 {
				m.Groups = like.Groups
				if len(like.Units) > 0 { // the units above the visible ones are Bernoulli
					m.Units = append(like.Units[:1:1], make([]Kind, len(m.Layers)+len(m.Convolutions))...)
				}
			}
			for i, text := range measure {
				one, err := ParseMeasurement(text)
				if err != nil {
					return nil, fmt.Errorf("--measure=%s: %w", text, err)
				}
				e.Measurements = append(e.Measurements[:i:i], one)
			}
			return e, nil
		},
	}
}
