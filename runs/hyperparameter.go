package runs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Hyperparameter is a setting of an experiment, with what is said of it wherever it is written:
// in files, flags, legends and errors.
type Hyperparameter struct {
	Value  any    // a pointer to it, into a struct whose tags give its key in TOML
	Flag   string // of the command line
	Group  string // of the flags among which it stands
	Usage  string // of the flag: the `value` stands in quotes
	Legend string // what a legend says of the value
	Always bool   // whether legends say that even of the usual value
	Run    bool   // whether the value names the directory of a run
	Beside bool   // whether the setting leaves training as it is, and so is no part of hashes
	Epochs int    // how many it takes until the setting has its full effect

	Valid  bool   // whether the value is allowed
	Remedy string // what to give where it is not
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

// value is the value to which the row points.
func (h Hyperparameter) value() any { return reflect.ValueOf(h.Value).Elem().Interface() }

// CheckHyperparameters refuses the first of the settings of spec, a pointer to the struct into
// which they point, that is not valid: with its key, its value and the remedy.
func CheckHyperparameters(spec any, settings []Hyperparameter) error {
	for _, s := range settings {
		if !s.Valid {
			_, key := cutLast(keyOf(spec, s.Value))
			return fmt.Errorf("%s = %v: %s", key, s.value(), s.Remedy)
		}
	}
	return nil
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
			if inner := keyIn(field, value); inner != "" {
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
