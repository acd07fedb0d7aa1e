package runs_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// layered is a setting with memory of its own.
type layered struct {
	Layers []int `toml:"layers" json:"layers"`
	Batch  int   `toml:"batch_size" json:"batch_size"`
}

var layers = runs.NewFamily(runs.Family[layered, *logits]{
	Name: "layered", Noun: "a model of layers", Usual: layered{Layers: []int{5, 4}, Batch: 1},
	Rows:     func(s *layered) []runs.Hyperparameter { return []runs.Hyperparameter{runs.BatchRow(&s.Batch)} },
	Batch:    func(s *layered) *int { return &s.Batch },
	Measures: []runs.Measure{runs.LogP},
	New: func(runs.Fit[layered, *logits], dataset.Shape) (*logits, error) {
		return &logits{make([]float64, 1)}, nil
	},
	Tensors: func(l *logits) []runs.Tensor { return []runs.Tensor{runs.Wide("a", l.a)} },
	Step: func(context.Context, runs.Fit[layered, *logits], *logits, runs.Minibatch, float64) (runs.Measures, error) {
		return runs.Measures{runs.LogP.Key: 0}, nil
	},
	Validate: func(context.Context, runs.Fit[layered, *logits], *logits, dataset.Split) (runs.Measures, error) {
		return runs.Measures{runs.LogP.Key: 0}, nil
	},
})

// Reading or changing an experiment leaves the default settings of its family unchanged.
func TestUsualSettingsStay(t *testing.T) {
	e, err := layers.Parse([]byte("family = \"layered\"\nlayers = [1, 2]\n"))
	if err != nil || !slices.Equal(e.Settings.Layers, []int{1, 2}) {
		t.Fatalf("layers %v are read (%v)", e.Settings.Layers, err)
	}
	other := layers.Empty()
	other.Settings.Layers[0] = 9
	if usual := layers.Empty().Settings.Layers; !slices.Equal(usual, []int{5, 4}) {
		t.Errorf("the usual layers are %v now", usual)
	}
}

// A model may have fewer numbers than an image has pixels.
func TestSmallModels(t *testing.T) {
	set, err := dataset.Spec{Name: "3by3", Subset: 5}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := layers.Experiment(set)
	e.Epochs = 1
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil || len(run.Model().a) != 1 {
		t.Errorf("one number learns of %v: %v", set.Shape(), err)
	}
}

// Settings that experiments would share, or that have no key of their own, are refused when their
// family registers.
func TestSettingsAreTheirOwn(t *testing.T) {
	refused := func(says string, register func()) {
		t.Helper()
		defer func() {
			if said, _ := recover().(string); !strings.Contains(said, says) {
				t.Errorf("%q is said of settings, want %q", said, says)
			}
		}()
		register()
	}
	refused("would share", func() {
		register[struct {
			P *int `toml:"p"`
		}]()
	})
	refused("not exported", func() { register[struct{ runs.Decay }]() })
	refused("no other setting has", func() {
		register[struct {
			Other int `toml:"seed"`
		}]()
	})
	refused("no other setting has", func() {
		register[struct {
			Keep int `toml:"own"`
		}]()
	})
}

// Each row of a family describes one of its settings, under a flag of its own.
func TestRowsDescribeSettings(t *testing.T) {
	var elsewhere int
	for says, rows := range map[string]func(*layered) []runs.Hyperparameter{
		`the flag "batch" has a Value of type *int that points to none`: func(*layered) []runs.Hyperparameter {
			return []runs.Hyperparameter{runs.BatchRow(&elsewhere)}
		},
		`the flag "depth" has a Value of type <nil>`: func(*layered) []runs.Hyperparameter {
			return []runs.Hyperparameter{{Flag: "depth"}}
		},
		`has the flag ""`: func(s *layered) []runs.Hyperparameter {
			return []runs.Hyperparameter{{Value: &s.Batch}}
		},
		`has the flag "batch"`: func(s *layered) []runs.Hyperparameter {
			return []runs.Hyperparameter{runs.BatchRow(&s.Batch), {Value: &s.Layers, Flag: "batch"}}
		},
	} {
		func() {
			defer func() {
				if said, is := recover().(string); !is || !strings.Contains(said, says) {
					t.Errorf("%q is said, want %q", said, says)
				}
			}()
			f := unfit[layered]()
			f.Rows = rows
			runs.NewFamily(f)
		}()
	}
}

func register[S any]() { runs.NewFamily(unfit[S]()) }

// unfit declares a family with settings.
func unfit[S any]() runs.Family[S, *logits] {
	return runs.Family[S, *logits]{
		Name: "odd", Noun: "an odd model", Rows: func(*S) []runs.Hyperparameter { return nil }, Batch: func(*S) *int { return new(int) },
		Measures: []runs.Measure{runs.LogP}, New: func(runs.Fit[S, *logits], dataset.Shape) (*logits, error) { return nil, nil },
		Tensors: func(*logits) []runs.Tensor { return nil },
		Step: func(context.Context, runs.Fit[S, *logits], *logits, runs.Minibatch, float64) (runs.Measures, error) {
			return nil, nil
		},
		Validate: func(context.Context, runs.Fit[S, *logits], *logits, dataset.Split) (runs.Measures, error) {
			return nil, nil
		},
	}
}

// A family whose models have no name in messages is refused when it registers.
func TestModelsHaveANoun(t *testing.T) {
	defer func() {
		if said := recover(); said != "runs: the family odd has no Noun" {
			t.Errorf("a family without a noun: %v", said)
		}
	}()
	f := unfit[layered]()
	f.Noun = ""
	runs.NewFamily(f)
}

// A family that lacks a function is refused when it registers, and an experiment that belongs to no
// family when it is checked.
func TestFamiliesAreWhole(t *testing.T) {
	defer func() {
		if said, is := recover().(string); !is || !strings.Contains(said, "the family half has no ") {
			t.Errorf("half a family: %v", said)
		}
	}()
	var e runs.Fit[layered, *logits]
	wantError(t, e.Check(nil), "belongs to no family", "Family.Experiment")
	runs.NewFamily(runs.Family[layered, *logits]{Name: "half"})
}
