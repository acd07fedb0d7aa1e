package runs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Hyperparameter, or row, describes a setting of an experiment for files, flags, legends and errors.
type Hyperparameter struct {
	Value  any      // pointer to a struct field; the field's tag gives the TOML key
	Key    string   // full TOML name, such as method.damping; Keyed and Family set it
	Flag   string   // name of the command-line flag
	Group  string   // group that lists the flag in the help; empty means the name of the family
	Usage  string   // help of the flag, with the name of the `value` in backquotes
	Words  []string // the texts that the flag takes; optional, for completion in the shell
	Legend string   // text for the setting in a legend
	Always bool     // whether legends include even the default value
	Run    bool     // whether the value is the directory of a run
	Beside bool     // whether the setting does not change training, so hashes omit it
	Epochs int      // number of epochs until the setting has its full effect

	Valid  bool   // whether the value is allowed
	Remedy string // advice if the value is not allowed; empty if any value is allowed
	Idle   string // what the setting needs to have an effect; empty if it has one

	// Decides lists the Keys of the settings that the value determines, if it names a published method. Misnomer is
	// the error if these settings differ from the published ones, or "".
	Decides  []string
	Misnomer string
}

// RateRow returns the row for a learning rate η; usage is the help of its flag.
func RateRow(η *float64, usage string) Hyperparameter {
	return Hyperparameter{
		Value: η, Flag: "lr", Group: "training", Usage: usage, Legend: fmt.Sprintf("η = %g", *η), Always: true,
		Valid: *η > 0 && statistics.Finite(*η), Remedy: "give a positive, finite number, such as 0.01",
	}
}

// BatchRow returns the row for the number of rows per minibatch.
func BatchRow(rows *int) Hyperparameter {
	return Hyperparameter{
		Value: rows, Flag: "batch", Group: "training", Usage: "`B` rows per minibatch", Legend: fmt.Sprintf("B = %d", *rows),
		Valid: *rows >= 1, Remedy: "give at least 1",
	}
}

// Unless returns a value for Hyperparameter.Idle: "" if the setting has an effect, or else missing, which
// says what the setting needs.
func Unless(acts bool, missing string) string {
	if acts {
		return ""
	}
	return missing
}

// Wrong reports whether the value is not allowed.
func (h Hyperparameter) Wrong() bool { return !h.Valid && h.Remedy != "" }

// In returns the row with its flag in another group.
func (h Hyperparameter) In(group string) Hyperparameter {
	h.Group = group
	return h
}

// MeanRow returns the row for the decay β of an optimiser's running mean. symbol and of are the decay's
// symbol and the optimiser in the help, usual is the default, and idle is Hyperparameter.Idle. If zero is
// true, 0 means the default, and the decay is checked even if it has no effect.
func MeanRow(β *float64, flag, symbol, of string, usual float64, zero bool, idle string) Hyperparameter {
	usage, remedy := fmt.Sprintf("`%s` of %s", symbol, of), "give a decay of at least 0 and below 1; the default is %g"
	if zero {
		usage, remedy = fmt.Sprintf("%s (default %g)", usage, usual), "give a decay above 0 and below 1, or 0 for the default %g"
	}
	return Hyperparameter{
		Value: β, Flag: flag, Group: "optimizer", Usage: usage, Legend: fmt.Sprintf("%s = %g", symbol, *β), Idle: idle,
		Valid: *β >= 0 && *β < 1 || idle != "" && !zero, Remedy: fmt.Sprintf(remedy, usual),
	}
}

// Rows returns the rows for the settings of the decay.
func (d *Decay) Rows() []Hyperparameter {
	stepping, idle := fmt.Sprintf("× %g every %d epochs", d.StepFactor, d.StepEpochs), Unless(d.Schedule == StepDecay, "--schedule step")
	return []Hyperparameter{{
		Value: &d.Schedule, Flag: "schedule", Group: "optimizer", Legend: d.Schedule.String(),
		Usage: "learning-rate schedule: `which` of constant, step, cosine",
	}, {
		Value: &d.StepFactor, Flag: "step-factor", Group: "optimizer", Legend: stepping, Idle: idle,
		Usage: "schedule step: `factor` of each change",
		Valid: (d.StepFactor > 0 && d.StepFactor <= 1 || idle != "") && statistics.Finite(d.StepFactor), Remedy: "give a factor above 0 and at most 1",
	}, {
		Value: &d.StepEpochs, Flag: "step-epochs", Group: "optimizer", Legend: stepping, Idle: idle, Epochs: d.StepEpochs + 1,
		Usage: "schedule step: `epochs` between changes",
		Valid: d.StepEpochs >= 1 || idle != "", Remedy: "give the number of epochs between changes of the step schedule, at least 1",
	}}
}

// NormRows returns the rows for the strengths of the L1 and the L2 regulariser. usual1 and usual2 are
// typical strengths, which errors suggest.
func NormRows(l1, l2 *float64, usual1, usual2 string) []Hyperparameter {
	row := func(β *float64, flag, norm, name, usual string) Hyperparameter {
		return Hyperparameter{
			Value: β, Flag: flag, Group: "regularizers", Usage: "strength `β` of the penalty on " + norm + " of the weights", Legend: fmt.Sprintf("%s β = %g", name, *β),
			Valid: *β >= 0 && statistics.Finite(*β), Remedy: fmt.Sprintf("give the strength of the %s norm, 0 or more; %s is typical", name, usual),
		}
	}
	return []Hyperparameter{row(l1, "l1", "the L1 norm", "L1", usual1), row(l2, "l2", "half the squared L2 norm", "L2", usual2)}
}

func (h Hyperparameter) value() any { return reflect.ValueOf(h.Value).Elem().Interface() }

// CheckHyperparameters returns an error for the first invalid setting, with its key, its value and
// the remedy. spec points to the struct whose fields the settings point to.
func CheckHyperparameters(spec any, settings []Hyperparameter) error {
	for _, s := range settings {
		if s.Wrong() {
			return fmt.Errorf("%s = %v: %s", keyOf(spec, s.Value), quoted(s.value()), s.Remedy)
		}
	}
	return nil
}

// quoted quotes a text, and returns other values unchanged.
func quoted(value any) any {
	if text, is := value.(string); is {
		return strconv.Quote(text)
	}
	return value
}

// idle maps the Key of each setting without effect to what the setting needs.
func idle(e Experiment) map[string]string {
	needs := map[string]string{}
	for _, row := range e.Rows() {
		if row.Idle != "" {
			needs[row.Key] = row.Idle
		}
	}
	return needs
}

// CheckPreset returns an error if an experiment's settings differ from the published method that it
// names. Only new runs are checked; an existing run keeps its name.
func CheckPreset(e Experiment) error {
	for _, row := range e.Rows() {
		if row.Misnomer != "" {
			return errors.New(row.Misnomer)
		}
	}
	return nil
}

// Keyed sets the Keys of rows and returns them. spec points to the struct with the settings, and table is its
// TOML table in an experiment file; an empty table means the top level.
func Keyed(table string, spec any, rows []Hyperparameter) []Hyperparameter {
	for i, row := range rows {
		rows[i].Key = strings.TrimPrefix(table+"."+keyOf(spec, row.Value), ".")
	}
	return rows
}

// keyOf returns the TOML key of the field that value points to. spec points to the struct that contains
// the field, possibly within an inner struct.
func keyOf(spec, value any) string {
	key := keyIn(reflect.ValueOf(spec).Elem(), value)
	if key == "" {
		panic(fmt.Sprintf("%T has no field that this %T points to", spec, value))
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

// Legend returns the text of a legend for the settings that have an effect and differ from their defaults.
// usual holds the same settings in the same order with their default values.
func Legend(settings, usual []Hyperparameter) string {
	var clauses []string
	for i, s := range settings {
		differs := !reflect.DeepEqual(s.Value, usual[i].Value)
		if s.Legend != "" && s.Idle == "" && (s.Always || differs) && !slices.Contains(clauses, s.Legend) {
			clauses = append(clauses, s.Legend)
		}
	}
	return strings.Join(clauses, ", ")
}
