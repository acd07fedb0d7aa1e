package hm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Measurement is an evaluation that training performs every few epochs. Like Model.Evaluate with seed
// 1, it estimates the likelihoods of chosen rows, with standard errors over the rows. It does not affect
// training.
type Measurement struct {
	// Name names the measurement in histories. If it is empty, the split determines it: test,
	// validation_rows or train_rows.
	Name    string `toml:"name,omitempty" json:"name,omitempty"`
	Every   int    `toml:"every" json:"every"`                     // in epochs; 0 means 1
	Split   string `toml:"split,omitempty" json:"split,omitempty"` // train, validation or test; empty means test
	Rows    int    `toml:"rows,omitzero" json:"rows,omitempty"`    // number of rows, chosen by seed 1; 0 means all
	Samples int    `toml:"samples" json:"samples"`                 // K, importance samples per row; 0 means 1000
	// LogZ2 is the number of outer samples of log Z², or 0 to omit log Z² and log p*. LogZ2Inner is
	// the number of inner samples; 0 means 1.
	LogZ2      int `toml:"log_z2,omitzero" json:"log_z2,omitempty"`
	LogZ2Inner int `toml:"log_z2_inner,omitzero" json:"log_z2_inner,omitempty"`
}

// ParseMeasurement parses a measurement in the syntax of flags, such as
// every=10,split=test,rows=1000,samples=1000,log-z2=100000. It returns an error for values that
// Experiment.Check refuses for every data set.
func ParseMeasurement(text string) (Measurement, error) {
	var m Measurement
	numbers := map[string]*int{"every": &m.Every, "rows": &m.Rows, "samples": &m.Samples, "log-z2": &m.LogZ2, "log-z2-inner": &m.LogZ2Inner}
	texts := map[string]*string{"name": &m.Name, "split": &m.Split}
	given := map[string]bool{}
	for _, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if given[key] {
			return m, fmt.Errorf("%s is given twice: omit one", key)
		}
		given[key] = true
		if text, ok := texts[key]; ok {
			*text = strings.TrimSpace(value)
			continue
		}
		number, ok := numbers[key]
		if !ok {
			return m, fmt.Errorf("%q is none of every, split, rows, samples, log-z2, log-z2-inner and name: write every=10,split=test,rows=1000,samples=1000", key)
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			return m, fmt.Errorf("%s=%s: use a whole number", key, value)
		}
		if n == 0 && key != "rows" && key != "log-z2" {
			return m, fmt.Errorf("%s=0: use at least 1, or omit it", key)
		}
		*number = n
	}
	return m, m.WithDefaults().check()
}

// WithDefaults returns the measurement with the defaults filled in.
func (m Measurement) WithDefaults() Measurement {
	m.Split = cmp.Or(m.Split, "test")
	name := m.Split
	if name != "test" {
		name += "_rows"
	}
	m.Name = cmp.Or(m.Name, name)
	m.Every, m.Samples, m.LogZ2Inner = cmp.Or(m.Every, 1), cmp.Or(m.Samples, 1000), cmp.Or(m.LogZ2Inner, 1)
	return m
}

// check returns an error if the measurement, with its defaults filled in, has values that are wrong for every data set.
func (m Measurement) check() error {
	switch {
	case !slices.Contains([]string{"train", "validation", "test"}, m.Split):
		return fmt.Errorf("split %q: use train, validation or test", m.Split)
	case m.Every < 1 || m.Samples < 1 || m.Rows < 0:
		return fmt.Errorf("every = %d, samples = %d, rows = %d: use positive numbers, or rows = 0 for all", m.Every, m.Samples, m.Rows)
	case m.LogZ2 != 0 && m.LogZ2 < logZ2Repeats || m.LogZ2Inner < 1 || max(m.LogZ2, m.LogZ2Inner, m.Samples) > math.MaxUint32:
		return fmt.Errorf("log_z2 = %d, log_z2_inner = %d: use at least %d outer and 1 inner sample, and fewer than 2³² of any, or log_z2 = 0 to omit log Z²", m.LogZ2, m.LogZ2Inner, logZ2Repeats)
	}
	return runs.CheckMeasured(m.Name)
}

func (e Experiment) checkMeasurements(set *dataset.Set) error {
	names := map[string]bool{}
	for _, m := range e.Measurements {
		m := m.WithDefaults()
		if err := m.check(); err != nil {
			return fmt.Errorf("measure: %w", err)
		}
		if rows, _ := set.Split(m.Split); rows.Rows == 0 {
			return fmt.Errorf("measure: %s has no %s rows: choose another split", set.Name(), m.Split)
		}
		if names[m.Name] {
			return fmt.Errorf("measure: two measurements are called %s: rename one", m.Name)
		}
		names[m.Name] = true
	}
	return nil
}

func (m Measurement) take(ctx context.Context, model *Model, set *dataset.Set) (runs.Measures, error) {
	rows, _ := set.Split(m.Split)
	model = model.WithSeed(1)
	e, err := model.Evaluate(ctx, model.Subset(rows, m.Rows), m.Samples, nil)
	if err != nil {
		return nil, err
	}
	if m.LogZ2 > 0 {
		z, err := model.LogZ2(ctx, m.LogZ2, m.LogZ2Inner)
		if err != nil {
			return nil, err
		}
		e = e.WithLogZ2(z)
	}
	measured := runs.Measures{}
	for key, estimate := range e.Findings().Estimates() {
		if measured[key] = estimate.Value; !estimate.SampleSize.Few() {
			measured[key+runs.StandardErrorKey] = estimate.SE
		}
	}
	return measured, nil
}

func (l *learner) Observe(ctx context.Context, epoch int) (map[string]runs.Measures, error) {
	var all map[string]runs.Measures
	var model *Model // shared by all measurements, so that its weights are packed once
	for _, m := range l.experiment.Measurements {
		m := m.WithDefaults()
		if epoch%m.Every != 0 {
			continue
		}
		if model == nil {
			if err := l.fetch(); err != nil {
				return nil, err
			}
			p := l.state.Parameters
			all = map[string]runs.Measures{}
			model = &Model{experiment: l.experiment, shape: l.set.Shape(), parameters: p, engine: &evaluator{parameters: p, arithmetic: l.experiment.Method.Arithmetic, by: l.backend}}
		}
		var err error
		if all[m.Name], err = m.take(ctx, model, l.set); err != nil {
			return nil, err
		}
	}
	return all, nil
}
