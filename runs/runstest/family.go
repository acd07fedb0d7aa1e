// Package runstest checks that a family of models keeps the promises that package runs makes for
// every family.
//
//	func TestFamily(t *testing.T) {
//		runstest.Family(t, runstest.Case[Experiment, *Model]{Experiment: small, Set: set, Kind: kind})
//	}
//
// FuzzParse and FuzzSnapshot are the bodies of a family's fuzz targets.
package runstest

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Case is a family with one small experiment. E is the type of its experiments and M of its models.
type Case[E runs.Experiment, M any] struct {
	// Experiment trains on Set in well under a second, for at least two epochs of at least three
	// steps. Set can be opened by its Spec, and it has validation rows.
	Experiment E
	Set        *dataset.Set
	// Kind describes the runs of the family.
	Kind runs.Kind[E, M]
	// Aside names the settings, or tables of settings, that do not change training. keep and
	// record_steps need not be named.
	Aside []string
	// Impossible maps the name of a tensor to a value that no element of the tensor can have.
	Impossible map[string]float64
	// Refused lists changes that make Experiment impossible to train on Set.
	Refused []Refusal[E]
}

// Refusal is a change that makes an experiment impossible to train. Refuse creates one.
type Refusal[E runs.Experiment] struct {
	change func(e *E)
	says   []string
}

// Refuse returns a Refusal. says are texts that the error must contain: the setting, its value and the
// remedy.
func Refuse[E runs.Experiment](change func(e *E), says ...string) Refusal[E] {
	return Refusal[E]{change, says}
}

// Family checks a family: its files, its hash, interrupted and resumed training, snapshots and
// model files, seeds and refused settings.
func Family[E runs.Experiment, M any](t *testing.T, f Case[E, M]) {
	if h := f.Experiment.Header(); h.Epochs < 2 || h.StepsPerEpoch(f.Set.Train().Rows) < 3 || f.Set.Validation().Rows == 0 {
		t.Fatalf("%d epochs of %d rows in minibatches of %d, and %d validation rows: give at least 2 epochs of 3 steps and a validation row",
			h.Epochs, f.Set.Train().Rows, h.BatchSize, f.Set.Validation().Rows)
	}
	for name, check := range map[string]func(*testing.T){
		"written and read":    f.roundTrip,
		"weights of rows":     f.weights,
		"unknown settings":    f.unread,
		"hash":                f.hash,
		"refused settings":    f.refused,
		"stopped and resumed": func(t *testing.T) { Resume(t, f.Experiment, f.Set) },
		"extended":            func(t *testing.T) { extend(t, f.Experiment, f.Set) },
		"cancelled":           f.cancelled,
		"refused snapshots":   f.refusedSnapshots,
		"refused models":      f.refusedModels,
		"models":              f.models,
		"another seed":        f.seed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
}

func (f Case[E, M]) copied(t *testing.T) E {
	t.Helper()
	return must[E](t)(f.Kind.Parse(f.Experiment.TOML()))
}

// full returns a copy of the experiment with a non-zero value for each setting.
func (f Case[E, M]) full(t *testing.T) E {
	t.Helper()
	e := f.copied(t)
	Fill(&e)
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
	return e
}

// must returns a function that returns value, or ends the test if err is not nil.
func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func wantError(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("there is no error, want one that contains %q", says)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not contain %q", err, text)
		}
	}
}
