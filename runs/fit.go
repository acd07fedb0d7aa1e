package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Base holds the settings that experiments of every family share, apart from the size of minibatches.
type Base struct {
	Data
	Budget
}

// Data holds the data that an experiment trains on.
type Data struct {
	Dataset dataset.Spec `toml:"dataset" json:"dataset"`
	// Fingerprint is the SHA-256 of the data. Training sets it. If it is already set, training
	// refuses data with another fingerprint.
	Fingerprint string `toml:"fingerprint,omitempty" json:"fingerprint,omitempty"`
}

// openedBefore gives data with a fingerprint the rules by which a program read them that did not record its rules.
func (d *Data) openedBefore() {
	if d.Fingerprint != "" {
		d.Dataset = d.Dataset.OpenedBefore()
	}
}

// DataOf returns the specification and the fingerprint of set, which may be nil, and an error text if its images do not have
// the shape that a machine expects.
func DataOf(set *dataset.Set, machine dataset.Shape) (data Data, misfit string) {
	if set == nil {
		return data, ""
	}
	if machine != set.Shape() {
		misfit = fmt.Sprintf("the machine is for images of %v, the data set %s has %v: describe it with New(set.Shape())",
			machine, set.Name(), set.Shape())
	}
	return Data{set.Spec(), set.Fingerprint()}, misfit
}

// Budget holds the length of training, its seed, and which checkpoints and records it keeps.
type Budget struct {
	Epochs int `toml:"epochs" json:"epochs"`
	// Patience is the number of epochs without improvement of the objective on the validation rows
	// after which training stops; 0 trains for all Epochs.
	Patience int `toml:"patience" json:"patience"`
	// Seed determines the initial parameters, the order of the rows and all random draws in steps.
	Seed uint64 `toml:"seed" json:"seed"`
	// Keep lists the epochs whose checkpoints are kept. RecordSteps is the number of steps between
	// two records of the measures; 0 records no steps. Neither changes training or Hash.
	Keep        []int `toml:"keep,omitempty" json:"keep,omitempty"`
	RecordSteps int   `toml:"record_steps,omitzero" json:"record_steps,omitempty"`
}

// Fit is an experiment of a family that a Family declares. It is a plain value that holds the settings
// shared by all families and the settings of this family. Family.Experiment and Family.Parse return one.
type Fit[S, M any] struct {
	Base
	Settings S
	family   *Family[S, M]
}

// Family declares a family of models by descriptions of its settings and a few functions. S is the type
// of the settings and M the type of the models. NewFamily registers the family. Experiment files, flags,
// legends, help, sweep axes, run directories, resumption, seeds and comparisons follow from the
// declaration.
//
// Fields marked optional may be nil or zero.
type Family[S, M any] struct {
	Name   string // value of the key family in experiment files
	Noun   string // name of a model in messages, such as "a mixture of Gaussians"
	Data   string // data flags for the examples in the help; optional, default --dataset 3by3
	Usual  S      // default settings
	Epochs int    // default number of epochs; optional, 0 means 20
	// Sequences reports whether the rows are sequences (see dataset.Split.Lengths).
	Sequences bool
	// NearZero reports whether training expects real numbers within a few units of 0, so that
	// dataset.Set.ScaleNotice applies.
	NearZero bool
	// Densities reports whether models treat all units as real numbers, so that dataset.Set.RangesNotice applies.
	Densities bool
	// Gaps reports whether training and validation use only the observed values of rows with gaps: see dataset.Split.Missing.
	Gaps bool

	// Rows returns the descriptions of the settings, in the order of legends and help. Each points to
	// a field of its argument.
	Rows func(*S) []Hyperparameter
	// Batch points to the number of rows per minibatch. If Rows allows 0, it stands for all rows: an epoch is one step.
	Batch func(*S) *int
	// Rate returns the initial learning rate and its decay. Optional: without it, Step gets 0.
	Rate func(S) (float64, Decay)
	// Check returns an error for settings that are valid according to Rows, but cannot be trained on
	// the set. Optional.
	Check func(Fit[S, M], *dataset.Set) error
	// Resolve returns the experiment with the checksums of the files that it refers to. Optional.
	Resolve func(Fit[S, M], *dataset.Set) (Fit[S, M], error)
	// Baseline returns the value of the objective under a much simpler model (see Experiment). Optional.
	Baseline func(Fit[S, M], *dataset.Set, dataset.Split) Baseline

	// Measures lists the measures that training may record, the objective first.
	Measures []Measure
	// Size returns a lower bound on the number of values in all tensors of a model for images of a
	// shape. A file with fewer values is refused before New allocates memory. Optional: declare Size
	// if the settings alone can make a model large.
	Size func(Fit[S, M], dataset.Shape) float64
	// New returns a model for images of a shape. Its tensors have the right shapes and arbitrary
	// values.
	New func(Fit[S, M], dataset.Shape) (M, error)
	// Begin sets the initial parameters of a new model. Optional: by default New sets them.
	Begin func(Fit[S, M], M, *dataset.Set) error
	// Tensors returns all state that the next step needs, in float32 or in float64. The tensors share
	// the model's memory; a snapshot is read into them.
	Tensors func(M) []Tensor
	// Restored recomputes any state that is derived from the tensors, after a snapshot was read into
	// them. If a tensor has values that training never saves, it returns an error that names the
	// tensor. Optional.
	Restored func(M) error
	// Write returns the snapshot of a model after a number of steps. Read returns the model of a
	// snapshot and the shape of its images; the height is 0 if only the number of values per image is
	// known. Both are optional: by default a snapshot holds the shape and the tensors.
	Write func(m M, step int) (Snapshot, error)
	Read  func(Fit[S, M], Snapshot) (M, dataset.Shape, error)
	// Model returns the model without the state that only training needs. Optional.
	Model func(M) M

	// Step takes one training step at a learning rate and returns the means of the measures over the
	// rows of the minibatch, computed with the parameters before the step, or after a step that uses all rows. If the
	// context is cancelled, it leaves the model unchanged.
	Step func(ctx context.Context, e Fit[S, M], m M, b Minibatch, rate float64) (Measures, error)
	// Validate returns the means of the measures over rows.
	Validate func(ctx context.Context, e Fit[S, M], m M, rows dataset.Split) (Measures, error)
	// Observe returns, by name, the measurements that the experiment asks for after an epoch.
	// Optional.
	Observe func(ctx context.Context, e Fit[S, M], m M, set *dataset.Set, epoch int) (map[string]Measures, error)
}

// Minibatch holds the rows of a step.
type Minibatch struct {
	Rows  dataset.Split // all training rows
	Index []int         // indices in Rows of the rows of the minibatch
	Step  int           // number of earlier steps
}

// Floats returns the values of the minibatch, one slice per row. Like Split.Floats, it scales grey values
// to 0 to 1 and leaves real numbers unchanged.
func (b Minibatch) Floats() [][]float64 { return b.Rows.Floats(b.Index...) }

// Wide returns a float64 tensor that shares the memory of values. Without a shape, it is a vector.
func Wide(name string, values []float64, shape ...int) Tensor {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	return Tensor{Name: name, Shape: shape, Wide: values}
}

// AdamTensors returns the state of Adam for a learner's Tensors: the running means of the gradient and of its square, as
// vectors named adam.mean and adam.square.
func AdamTensors(mean, square []float32) []Tensor {
	return []Tensor{{Name: "adam.mean", Shape: []int{len(mean)}, Data: mean}, {Name: "adam.square", Shape: []int{len(square)}, Data: square}}
}

// NewFamily registers a family. It panics if the name is taken, a required field is missing, a row does not point to a
// setting, or two rows have the same flag.
func NewFamily[S, M any](of Family[S, M]) *Family[S, M] {
	f := &of
	f.Epochs = cmp.Or(f.Epochs, 20)
	for name, lacks := range map[string]bool{
		"Name": f.Name == "", "Noun": f.Noun == "",
		"Rows": f.Rows == nil, "Batch": f.Batch == nil, "Measures": len(f.Measures) == 0, "New": f.New == nil,
		"Tensors, or Read and Write": f.Tensors == nil && (f.Read == nil || f.Write == nil),
		"Step":                       f.Step == nil, "Validate": f.Validate == nil,
	} {
		if lacks {
			panic(fmt.Sprintf("runs: the family %s has no %s", f.Name, name))
		}
	}
	f.checkSettings()
	f.Kind().Registered()
	return f
}

// checkSettings panics unless the settings are plain fields with distinct keys, and each row describes one of them.
func (f *Family[S, M]) checkSettings() {
	taken := append(settingNames("", reflect.TypeFor[Base]()), "family")
	for field := range reflect.TypeFor[S]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		_, isBase := reflect.TypeFor[Base]().FieldByName(field.Name)
		switch {
		case field.Anonymous || !field.IsExported():
			panic(fmt.Sprintf("runs: the field %s of the settings of %s is embedded or not exported: give it an exported name", field.Name, f.Name))
		case field.Type.Kind() == reflect.Pointer || field.Type.Kind() == reflect.Map:
			panic(fmt.Sprintf("runs: the field %s of the settings of %s is a %v, which copies of an experiment would share: use a value or a slice", field.Name, f.Name, field.Type))
		case key == "" || isBase || slices.Contains(taken, key):
			panic(fmt.Sprintf("runs: the field %s of the settings of %s has the key %q in TOML: give it a name and a key that no other setting has", field.Name, f.Name, key))
		}
		taken = append(taken, key)
	}
	s, flags := f.Usual, map[string]bool{}
	for _, row := range f.Rows(&s) {
		switch {
		case keyIn(reflect.ValueOf(&s).Elem(), row.Value) == "":
			panic(fmt.Sprintf("runs: the row of the family %s with the flag %q has a Value of type %T that points to none of its settings", f.Name, row.Flag, row.Value))
		case row.Flag == "" || flags[row.Flag]:
			panic(fmt.Sprintf("runs: a row of the family %s has the flag %q: give a flag that no other row has", f.Name, row.Flag))
		}
		flags[row.Flag] = true
	}
}

// Empty returns the default experiment of the family, without data.
func (f *Family[S, M]) Empty() Fit[S, M] {
	e := Fit[S, M]{Base{Budget: Budget{Epochs: f.Epochs, Seed: 1}}, f.Usual, f}
	unshare(reflect.ValueOf(&e.Settings).Elem())
	return e
}

func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			unshare(v.Field(i))
		}
	case reflect.Slice:
		if !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
	}
}

// Experiment returns the default experiment of the family on set.
func (f *Family[S, M]) Experiment(set *dataset.Set) Fit[S, M] {
	e := f.Empty()
	e.Data, _ = DataOf(set, dataset.Shape{})
	return e
}

// Parse reads an experiment from TOML. Missing settings take their defaults.
func (f *Family[S, M]) Parse(text []byte) (Fit[S, M], error) {
	e := f.Empty()
	flat := joined(e.inFile())
	if err := decodeFamily(text, f.Name, flat.Interface()); err != nil {
		return Fit[S, M]{}, err
	}
	for i, field := range e.inFile() {
		field.value.Set(flat.Elem().Field(i))
	}
	e.openedBefore()
	return e, checkSettings(e)
}

// Open opens the run in a directory, finished or not, with the model of the last checkpoint.
func (f *Family[S, M]) Open(dir string) (*Typed[Fit[S, M], M], error) { return f.Kind().Open(dir) }

// LoadModel reads a model file that Run.SaveModel wrote. If r is a file, errors name it.
func (f *Family[S, M]) LoadModel(r io.Reader) (M, error) { return f.Kind().LoadModel(r) }

// Kind returns the description of the family's runs.
func (f *Family[S, M]) Kind() Kind[Fit[S, M], M] {
	return Kind[Fit[S, M], M]{Name: f.Name, Noun: f.Noun, Parse: f.Parse, Draft: f.draft, Model: func(e Fit[S, M], at Snapshot) (M, error) {
		m, _, err := e.restore(at)
		if err != nil {
			return *new(M), err
		}
		if f.Model != nil {
			m = f.Model(m)
		}
		return m, nil
	}}
}

// member is a field of a struct with its value.
type member struct {
	field reflect.StructField
	value reflect.Value
}

func members(of any) (all []member) {
	for field, value := range reflect.ValueOf(of).Elem().Fields() {
		field.Offset, field.Index = 0, nil
		all = append(all, member{field, value})
	}
	return all
}

// inFile lists the members of an experiment file, in order.
func (e *Fit[S, M]) inFile() []member {
	return slices.Concat(members(&e.Data), members(&e.Budget), members(&e.Settings))
}

// joined returns a pointer to a new struct with all the given members.
func joined(all []member) reflect.Value {
	fields := lists.Map(all, func(m member) reflect.StructField { return m.field })
	flat := reflect.New(reflect.StructOf(fields))
	for i, m := range all {
		flat.Elem().Field(i).Set(m.value)
	}
	return flat
}

// flat returns the data, the settings and the budget as one struct. Hashes depend on this order.
func (e Fit[S, M]) flat() any {
	return joined(slices.Concat(members(&e.Data), members(&e.Settings), members(&e.Budget))).Interface()
}

// MarshalJSON writes the data, the settings and the budget as one object.
func (e Fit[S, M]) MarshalJSON() ([]byte, error) { return json.Marshal(e.flat()) }

// Train trains the experiment like the function Train, and returns the run with the model of the
// last checkpoint.
func (e Fit[S, M]) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...Recorder) (*Typed[Fit[S, M], M], error) {
	if e.family == nil {
		return nil, e.Check(set)
	}
	return e.family.Kind().Train(ctx, e, set, dir, recorders...)
}

// Header returns the data, the budget and the size of minibatches.
func (e Fit[S, M]) Header() Header {
	return Header{e.Base, cmp.Or(*e.family.Batch(&e.Settings), allRows)}
}

// WithHeader returns the experiment with the data, the budget and the size of minibatches of h.
func (e Fit[S, M]) WithHeader(h Header) Experiment {
	e.Base = h.Base
	if batch := e.family.Batch(&e.Settings); h.BatchSize != e.Header().BatchSize {
		*batch = h.BatchSize % allRows // 0 stands for all
	}
	return e
}

// Adopt returns the experiment. If its steps use all rows, it takes the number of rows per step from there, a run of an
// earlier version, whose fingerprint it then has.
func (e Fit[S, M]) Adopt(there Experiment) Experiment {
	of, is := there.(Fit[S, M])
	if batch := e.family.Batch(&e.Settings); is && *batch == 0 && of.Header().BatchSize != allRows {
		*batch, e.Fingerprint = of.Header().BatchSize, of.Fingerprint
	}
	return e
}

// TOML returns the experiment in the form that Family.Parse reads.
func (e Fit[S, M]) TOML() []byte {
	return EncodeExperiment(e.family.Name, joined(e.inFile()).Interface())
}

// Hash identifies the experiment: experiments with the same hash train identically. It panics if a number is not
// finite or a setting has no name; Check refuses both.
func (e Fit[S, M]) Hash() string {
	e.Keep, e.RecordSteps = nil, 0
	for _, row := range e.rows() {
		if row.Beside {
			reflect.ValueOf(row.Value).Elem().SetZero()
		}
	}
	return HashOf(e.family.Name, e)
}

func (e *Fit[S, M]) rows() []Hyperparameter {
	rows := Keyed("", &e.Settings, e.family.Rows(&e.Settings))
	for i := range rows {
		rows[i].Group = cmp.Or(rows[i].Group, e.family.Name)
	}
	return rows
}

// String returns the settings in the form of a legend.
func (e Fit[S, M]) String() string {
	usual := e.family.Usual
	return Legend(e.rows(), e.family.Rows(&usual))
}

// Rows describes the settings, in the order of legends and help.
func (e Fit[S, M]) Rows() []Hyperparameter { return e.rows() }

// Notice warns of categories among real numbers, and, as the family declares, of numbers far from 0 and of ranges of numbers.
func (e Fit[S, M]) Notice(set *dataset.Set) string {
	notice := set.DensityNotice()
	if e.family.NearZero {
		notice = names.Lines(notice, set.ScaleNotice())
	}
	if e.family.Densities {
		notice = names.Lines(notice, set.RangesNotice())
	}
	return notice
}

// Err returns an error if the value of a setting has no name, such as an unknown method.
func (e Fit[S, M]) Err() error { return Nameless(e.flat()) }

// First runs the checks in order and returns the first error.
func First(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Nameless returns the error of the first setting whose value has no name, such as an unknown
// method.
func Nameless(experiment any) error {
	_, err := json.Marshal(experiment)
	if nameless, is := errors.AsType[*json.MarshalerError](err); is {
		return nameless.Err
	}
	return nil
}

// Check refuses an experiment that cannot be trained on set. Its error names the setting, its value and the remedy.
// It does not read the runs that the experiment refers to; Resolve does.
func (e Fit[S, M]) Check(set *dataset.Set) error {
	if e.family == nil {
		return errors.New("the experiment belongs to no family: create it with its package's NewExperiment or with Family.Experiment")
	}
	return First(e.Err, func() error { return CheckHyperparameters(&e.Settings, e.rows()) }, func() error {
		return checkSequences(e.family.Sequences, set)
	}, func() error {
		if e.family.Gaps {
			return nil
		}
		return RefuseGaps(e.family.Noun, set)
	}, func() error {
		if e.family.Check == nil {
			return nil
		}
		return e.family.Check(e, set)
	}, func() error { return e.Header().check(set) })
}

// LearningRate returns the rate at a step, counted from 0, given the number of steps per epoch. It is 0 for a family
// without Rate.
func (e Fit[S, M]) LearningRate(step, stepsPerEpoch int) float64 {
	if e.family.Rate == nil {
		return 0
	}
	rate, decay := e.family.Rate(e.Settings)
	return rate * decay.Factor(step, stepsPerEpoch, e.Epochs)
}

// Measures describes all measures that training may record, the objective first.
func (e Fit[S, M]) Measures() []Measure { return slices.Clone(e.family.Measures) }

// Resolve returns the experiment with the checksums of what it refers to, by Family.Resolve.
func (e Fit[S, M]) Resolve(set *dataset.Set) (Experiment, error) {
	if e.family.Resolve == nil {
		return e, nil
	}
	return e.family.Resolve(e, set)
}

// Baseline returns the value of the objective on rows under a much simpler model, by Family.Baseline. Its Rows are
// empty for a family without a baseline.
func (e Fit[S, M]) Baseline(set *dataset.Set, rows dataset.Split) Baseline {
	if e.family.Baseline == nil {
		return Baseline{}
	}
	return e.family.Baseline(e, set, rows)
}

// Begin returns the state before the first step.
func (e Fit[S, M]) Begin(set *dataset.Set) (Snapshot, error) {
	m, err := e.family.New(e, set.Shape())
	if err != nil {
		return Snapshot{}, err
	}
	if e.family.Begin != nil {
		if err := e.family.Begin(e, m, set); err != nil {
			return Snapshot{}, err
		}
	}
	return e.snapshot(m, set.Shape(), 0)
}

// shaped is the header of a snapshot if its family has no Write.
type shaped struct {
	Shape dataset.Shape `json:"shape"`
}

// mostPixels is the largest height, width and number of units of a snapshot's images.
const mostPixels = 1 << 20

func (e Fit[S, M]) snapshot(m M, shape dataset.Shape, step int) (Snapshot, error) {
	if e.family.Write != nil {
		return e.family.Write(m, step)
	}
	text, err := json.Marshal(shaped{shape})
	tensors := e.family.Tensors(m)
	for i, t := range tensors {
		tensors[i].Data, tensors[i].Wide = slices.Clone(t.Data), slices.Clone(t.Wide) // the next step may run before they are written
	}
	return Snapshot{Step: step, Header: text, Tensors: tensors}, err
}

func (e Fit[S, M]) restore(at Snapshot) (m M, shape dataset.Shape, err error) {
	if e.family.Read != nil {
		return e.family.Read(e, at)
	}
	var of shaped
	if err := json.Unmarshal(at.Header, &of); err != nil {
		return m, shape, fmt.Errorf("the description of the model: %w", err)
	}
	values := 0
	for _, t := range at.Tensors {
		values += t.Size()
	}
	if err := CheckHyperparameters(&e.Settings, e.rows()); err != nil {
		return m, shape, err
	}
	shape = of.Shape
	if min(shape.Height, shape.Width) < 1 || max(shape.Height, shape.Width) > mostPixels || shape.Units() > mostPixels {
		return m, shape, fmt.Errorf("there can be no model for images of %v", shape)
	}
	if e.family.Size != nil && !(e.family.Size(e, shape) <= float64(values)) {
		return m, shape, fmt.Errorf("the %d numbers of the file are too few for a model for images of %v", values, shape)
	}
	if m, err = e.family.New(e, shape); err != nil {
		return m, shape, err
	}
	if err := ReadTensors(e.family.Tensors(m), at.Tensors); err != nil {
		return m, shape, err
	}
	if e.family.Restored != nil {
		err = e.family.Restored(m)
	}
	return m, shape, err
}

// ReadTensors copies each tensor in from into the tensor in into with the same name. It returns an error
// if a tensor is missing or surplus, or differs in shape or precision.
func ReadTensors(into, from []Tensor) error {
	for _, to := range into {
		i := slices.IndexFunc(from, func(t Tensor) bool { return t.Name == to.Name })
		if i < 0 {
			return fmt.Errorf("the file lacks the tensor %s of shape %v", to.Name, to.Shape)
		}
		switch is := from[i]; {
		case precision(is) != precision(to):
			return fmt.Errorf("the tensor %s is of %s, but the experiment needs %s", is.Name, precision(is), precision(to))
		case !slices.Equal(is.Shape, to.Shape):
			return fmt.Errorf("the tensor %s has shape %v, but the experiment needs %v", is.Name, is.Shape, to.Shape)
		}
		copy(to.Data, from[i].Data)
		copy(to.Wide, from[i].Wide)
	}
	for _, is := range from {
		if !slices.ContainsFunc(into, func(t Tensor) bool { return t.Name == is.Name }) {
			return fmt.Errorf("the file has a tensor %s, which the experiment does not have", is.Name)
		}
	}
	return nil
}

func precision(t Tensor) string {
	if t.Wide != nil {
		return "float64"
	}
	return "float32"
}

// Learner resumes training on set from a snapshot. It refuses a snapshot that does not fit the experiment with a
// SnapshotError.
func (e Fit[S, M]) Learner(set *dataset.Set, at Snapshot) (Learner, error) {
	m, shape, err := e.restore(at)
	if err != nil {
		return nil, &SnapshotError{err}
	}
	rows := set.Shape()
	if shape.Height == 0 {
		rows = dataset.Shape{Width: rows.Units()}
	}
	if shape != rows {
		return nil, fmt.Errorf("the parameters belong to a model for images of %v, but the rows of %s have %v", shape, set.Name(), rows)
	}
	return &fitting[S, M]{e, m, set, at.Step, Minibatches(e.Seed, set.Train(), e.Header().BatchSize)}, nil
}

type fitting[S, M any] struct {
	Fit[S, M]
	model     M
	set       *dataset.Set
	step      int
	minibatch func(step int) []int
}

func (f *fitting[S, M]) Steps(ctx context.Context, _ int, rate func(k int) float64) ([]Measures, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	measured, err := f.family.Step(ctx, f.Fit, f.model, Minibatch{f.set.Train(), f.minibatch(f.step), f.step}, rate(0))
	if err != nil {
		return nil, err
	}
	f.step++
	return []Measures{measured}, nil
}

// Norms returns nil: families declared by Family record no norms.
func (f *fitting[S, M]) Norms() (Norms, error) { return nil, nil }

// Validate returns an error if rows have another number of units than the training rows.
func (f *fitting[S, M]) Validate(ctx context.Context, rows dataset.Split) (Measures, error) {
	if err := CheckObserved(f.set.Shape().Units(), rows); err != nil {
		return nil, err
	}
	measured, err := f.family.Validate(ctx, f.Fit, f.model, rows)
	if err == nil {
		err = ctx.Err()
	}
	return measured, err
}

// CheckRows returns an error if rows do not fit a model with the given number of visible units, if values are missing, or if
// the visible units are binary and the rows have real numbers.
func CheckRows(visible int, binary bool, rows dataset.Split) error {
	if binary && rows.AreReal() {
		return fmt.Errorf("the model has units of 0 and 1, but the %s rows have real numbers: open the data with the binarisation that the model was trained with", rows.Name)
	}
	if slices.Contains(rows.Missing, true) {
		remedy := ""
		if rows.Name != "given" { // but a part of the data of a run
			remedy = ", and train on the completed copy"
		}
		return fmt.Errorf("the %s rows have missing values, first in row %d, but complete rows are needed here: fill them in with helmholtz impute%s", rows.Name, slices.Index(rows.Missing, true)/rows.Shape.Units()+1, remedy)
	}
	return CheckObserved(visible, rows)
}

// CheckObserved is like CheckRows, but values may be missing, and numbers are real or binary.
func CheckObserved(visible int, rows dataset.Split) error {
	if rows.Shape.Units() != visible {
		return fmt.Errorf("the model has %d visible units, but the %s rows have %d: use rows of the data that it was trained on", visible, rows.Name, rows.Shape.Units())
	}
	return rows.Check()
}

func (f *fitting[S, M]) Observe(ctx context.Context, epoch int) (map[string]Measures, error) {
	if f.family.Observe == nil {
		return nil, nil
	}
	return f.family.Observe(ctx, f.Fit, f.model, f.set, epoch)
}

func (f *fitting[S, M]) Snapshot() (Snapshot, error) {
	return f.snapshot(f.model, f.set.Shape(), f.step)
}

func (f *fitting[S, M]) Close() error { return nil }
