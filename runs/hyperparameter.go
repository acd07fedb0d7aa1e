package runs

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Hyperparameter is a setting of an experiment, with what is said of it wherever it is written:
// in files, flags, legends and errors.
type Hyperparameter struct {
	Value  any    // a pointer to it, into a struct whose tags give its key in TOML
	Flag   string // of the command line
	Group  string // of the flags among which it stands, the name of the family if it is empty
	Usage  string // of the flag: the `value` stands in quotes
	Legend string // what a legend says of the value
	Always bool   // whether legends say that even of the usual value
	Run    bool   // whether the value names the directory of a run
	Beside bool   // whether the setting leaves training as it is, and so is no part of hashes
	Epochs int    // how many it takes until the setting has its full effect

	Valid  bool   // whether the value is allowed
	Remedy string // what to give where it is not; empty where any value is allowed
	Idle   string // what the setting does nothing without, where that is missing
}

// RateRow describes a learning rate η, of which usage says what the flag means.
func RateRow(η *float64, usage string) Hyperparameter {
	return Hyperparameter{
		Value: η, Flag: "lr", Group: "training", Usage: usage, Legend: fmt.Sprintf("η = %g", *η), Always: true,
		Valid: *η > 0 && statistics.Finite(*η), Remedy: "give a positive, finite number, such as 0.01",
	}
}

// BatchRow describes the number of rows of a minibatch.
func BatchRow(rows *int) Hyperparameter {
	return Hyperparameter{
		Value: rows, Flag: "batch", Group: "training", Usage: "`B` data a minibatch", Legend: fmt.Sprintf("B = %d", *rows),
		Valid: *rows >= 1, Remedy: "give at least 1",
	}
}

// Unless returns what a setting does nothing without, for Idle, empty if it acts.
func Unless(acts bool, missing string) string {
	if acts {
		return ""
	}
	return missing
}

// Wrong says whether the value is not allowed.
func (h Hyperparameter) Wrong() bool { return !h.Valid && h.Remedy != "" }

// In returns the row in another group of flags.
func (h Hyperparameter) In(group string) Hyperparameter {
	h.Group = group
	return h
}

// MeanRow describes the decay β of a running mean that an optimiser has, which the row names by a symbol,
// with its usual value. If zero says that 0 stands for that, a decay that does nothing is checked, too.
func MeanRow(β *float64, flag, symbol, of string, usual float64, zero bool, idle string) Hyperparameter {
	remedy := "give a decay of 0 or more, below 1; %g is usual"
	if zero {
		remedy = "give a decay above 0 and below 1, or 0 for the usual %g"
	}
	return Hyperparameter{
		Value: β, Flag: flag, Group: "optimizer", Usage: fmt.Sprintf("`%s` of %s (default %g)", symbol, of, usual), Legend: fmt.Sprintf("%s = %g", symbol, *β), Idle: idle,
		Valid: *β >= 0 && *β < 1 || idle != "" && !zero, Remedy: fmt.Sprintf(remedy, usual),
	}
}

// Rows describes a schedule with its settings.
func (d *Decay) Rows() []Hyperparameter {
	stepping, idle := fmt.Sprintf("× %g every %d epochs", d.StepFactor, d.StepEpochs), Unless(d.Schedule == StepDecay, "--schedule step")
	return []Hyperparameter{{
		Value: &d.Schedule, Flag: "schedule", Group: "optimizer", Legend: d.Schedule.String(),
		Usage: "learning-rate schedule: `which` of constant, step, cosine",
	}, {
		Value: &d.StepFactor, Flag: "step-factor", Group: "optimizer", Legend: stepping, Idle: idle,
		Usage: "schedule step: `factor` of a change",
		Valid: (d.StepFactor > 0 && d.StepFactor <= 1 || idle != "") && statistics.Finite(d.StepFactor), Remedy: "give a factor above 0 and at most 1",
	}, {
		Value: &d.StepEpochs, Flag: "step-epochs", Group: "optimizer", Legend: stepping, Idle: idle, Epochs: d.StepEpochs + 1,
		Usage: "schedule step: `epochs` between changes",
		Valid: d.StepEpochs >= 1 || idle != "", Remedy: "the step schedule changes the learning rate every so many epochs, at least 1",
	}}
}

// NormRows describes the strengths of the L1 and the L2 norm of weights, with what is usual of each.
func NormRows(l1, l2 *float64, usual1, usual2 string) []Hyperparameter {
	row := func(β *float64, flag, norm, name, usual string) Hyperparameter {
		return Hyperparameter{
			Value: β, Flag: flag, Group: "regularizers", Usage: "`β` with which " + norm + " of the weights is held down", Legend: fmt.Sprintf("%s β = %g", name, *β),
			Valid: *β >= 0 && statistics.Finite(*β), Remedy: fmt.Sprintf("give the strength of the %s norm, 0 or more; %s is usual", name, usual),
		}
	}
	return []Hyperparameter{row(l1, "l1", "the L1 norm", "L1", usual1), row(l2, "l2", "half the squared L2 norm", "L2", usual2)}
}

// value is the value to which the row points.
func (h Hyperparameter) value() any { return reflect.ValueOf(h.Value).Elem().Interface() }

// CheckHyperparameters refuses the first of the settings of spec, a pointer to the struct into
// which they point, that is not valid: with its key, its value and the remedy.
func CheckHyperparameters(spec any, settings []Hyperparameter) error {
	for _, s := range settings {
		if s.Wrong() {
			return fmt.Errorf("%s = %v: %s", keyOf(spec, s.Value), quoted(s.value()), s.Remedy)
		}
	}
	return nil
}

// quoted puts a text in quotes, and leaves other values as they are.
func quoted(value any) any {
	if text, is := value.(string); is {
		return strconv.Quote(text)
	}
	return value
}

// An Idler is an Experiment that knows which of its settings do nothing beside the others.
type Idler interface {
	Experiment
	// Idle says, by the full name of each of these in TOML, what it does nothing without.
	Idle() map[string]string
}

// Idle are the settings of spec that do nothing, by their names in the table of an experiment, which
// is empty for settings that are in no table.
func Idle(table string, spec any, settings []Hyperparameter) map[string]string {
	idle := map[string]string{}
	for key, s := range ByKey(table, spec, settings) {
		if s.Idle != "" {
			idle[key] = s.Idle
		}
	}
	return idle
}

// ByKey are settings of spec by their names in the table of an experiment, which is empty for settings
// that are in no table.
func ByKey(table string, spec any, settings []Hyperparameter) map[string]Hyperparameter {
	if table != "" {
		table += "."
	}
	named := map[string]Hyperparameter{}
	for _, s := range settings {
		named[table+keyOf(spec, s.Value)] = s
	}
	return named
}

// keyOf is the key in TOML of the field of spec, or of a struct within it, to which value points.
func keyOf(spec, value any) string {
	key := keyIn(reflect.ValueOf(spec).Elem(), value)
	if key == "" {
		panic(fmt.Sprintf("%T has no field to which this %T points", spec, value))
	}
	return key
}

func keyIn(of reflect.Value, value any) string {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("toml"), ",")
		if field.CanAddr() && field.Addr().Interface() == value {
			return name
		}
		if field.Kind() == reflect.Struct && of.Type().Field(i).IsExported() {
			inner := keyIn(field, value)
			switch {
			case inner == "":
			case of.Type().Field(i).Anonymous && name == "":
				return inner
			default:
				return name + "." + inner
			}
		}
	}
	return ""
}

// Legend is what a legend says of settings: of those that act and are not as usual, which
// are the same settings in the same order with other values.
func Legend(settings, usual []Hyperparameter) []string {
	var clauses []string
	for i, s := range settings {
		differs := !reflect.DeepEqual(s.Value, usual[i].Value)
		if s.Legend != "" && s.Idle == "" && (s.Always || differs) && !slices.Contains(clauses, s.Legend) {
			clauses = append(clauses, s.Legend)
		}
	}
	return clauses
}
