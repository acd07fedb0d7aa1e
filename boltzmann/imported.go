package boltzmann

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Coding names the two values that units have in another program.
type Coding int

const (
	ZeroOne      Coding = iota // 0 and 1, as here
	PlusMinusOne               // −1 and 1, spins
)

var codingNames = names.New("coding", "01", "pm1")

func (c Coding) String() string                { return codingNames.Name(int(c)) }
func (c Coding) MarshalText() ([]byte, error)  { return codingNames.Marshal(int(c)) }
func (c *Coding) UnmarshalText(t []byte) error { return codingNames.Parse((*int)(c), t) }

// units returns α and β of s = αv − β. Here v is a unit of 0 or 1, and s is the other program's value of the
// same unit.
func (c Coding) units() (α, β float64) {
	if c == PlusMinusOne {
		return 2, 1
	}
	return 1, 0
}

// Sign is the sign of the parameters in the energy of another program.
type Sign int

const (
	Minus Sign = iota // E(s,t) = −bᵀs − cᵀt − sᵀWt, as here
	Plus              // E(s,t) = bᵀs + cᵀt + sᵀWt
)

var signNames = names.New("sign", "minus", "plus")

func (s Sign) String() string                { return signNames.Name(int(s)) }
func (s Sign) MarshalText() ([]byte, error)  { return signNames.Marshal(int(s)) }
func (s *Sign) UnmarshalText(t []byte) error { return signNames.Parse((*int)(s), t) }

// Weights holds the parameters of a restricted machine in the convention of another program.
type Weights struct {
	W    *mat.Dense // visible × hidden
	B, C []float64  // biases of the visible and of the hidden units
	// Ignored names the other arrays of the file that ReadWeights read, such as the step of an optimizer.
	Ignored []string
}

// Layout describes where a file holds W, b and c.
type Layout struct {
	Weights, Visible, Hidden string // names of the arrays
	Transposed               bool   // W is hidden × visible
}

// ReadWeights reads W, b and c, as float16, bfloat16, float32 or float64, from a safetensors file or an NPZ archive, and
// ignores other arrays. The biases may have additional dimensions of size 1. It refuses arrays that are missing, do not
// fit each other, or hold values that are not finite.
func ReadWeights(path string, l Layout) (w Weights, err error) {
	f, _, err := file.Open(path)
	if err != nil {
		return w, fmt.Errorf("%w%s", err, file.Remedy(err, path))
	}
	defer f.Close()
	arrays, ignored, err := readArrays(f, l)
	w.Ignored = ignored
	if err != nil {
		return w, fmt.Errorf("%s: %w", path, err)
	}
	for name, to := range map[string]*[]float64{l.Visible: &w.B, l.Hidden: &w.C} {
		of := arrays[name]
		if length := len(of.Values); len(of.Shape) == 0 || length == 0 || slices.Max(of.Shape) != length {
			return w, fmt.Errorf("%s: the biases %s have the shape %v: give a vector, one value per unit", path, name, of.Shape)
		}
		*to = of.Values
	}
	matrix, want := arrays[l.Weights], []int{len(w.B), len(w.C)}
	if l.Transposed {
		slices.Reverse(want)
	}
	if !slices.Equal(matrix.Shape, want) {
		remedy := "name the arrays of one machine"
		if slices.Reverse(want); slices.Equal(matrix.Shape, want) {
			remedy = map[bool]string{false: "they are hidden × visible, so give --transposed", true: "they are visible × hidden, so omit --transposed"}[l.Transposed]
		}
		return w, fmt.Errorf("%s: the weights %s have the shape %v, for biases of %d visible and %d hidden units: %s", path, l.Weights, matrix.Shape, len(w.B), len(w.C), remedy)
	}
	w.W = mat.NewDense(matrix.Shape[0], matrix.Shape[1], matrix.Values)
	if l.Transposed {
		w.W = mat.DenseCopyOf(w.W.T())
	}
	for name, of := range arrays {
		if i := slices.IndexFunc(of.Values, func(x float64) bool { return !statistics.Finite(x) }); i >= 0 {
			return w, fmt.Errorf("%s: %s has the value %v: export the machine of an earlier step", path, name, of.Values[i])
		}
	}
	return w, nil
}

// readArrays reads the arrays of a layout, and returns the names of the other arrays of the file.
func readArrays(f *os.File, l Layout) (arrays map[string]npy.Array, ignored []string, err error) {
	wanted := []string{l.Weights, l.Visible, l.Hidden}
	if slices.Sort(wanted); len(slices.Compact(wanted)) < 3 {
		return nil, nil, fmt.Errorf("%s, %s and %s are the names of weights and biases: give three names", l.Weights, l.Visible, l.Hidden)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	start := make([]byte, 8)
	if _, err := io.ReadFull(f, start); err != nil {
		return nil, nil, errors.New("too short to be a safetensors file or an NPZ archive")
	}
	var all []npy.Array
	var there []string
	is := func(name string) bool {
		there = append(there, names.Printable(name))
		return slices.Contains(wanted, name)
	}
	switch {
	case strings.HasPrefix(string(start), "PK"):
		if all, err = npy.ReadArchive(f, info.Size(), is); err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(there, func(name string) bool { return strings.HasSuffix(name, "data.pkl") }) {
			return nil, nil, errors.New(`a PyTorch file: save its tensors with safetensors.torch.save_file(torch.load(FILE, weights_only=True), "rbm.safetensors")`)
		}
	case strings.HasPrefix(string(start), "\x89HDF"):
		return nil, nil, errors.New("an HDF5 file: convert its machine to a safetensors file, with notebooks/rbms.py if the program rbms wrote it")
	default:
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, nil, err
		}
		foreign, err := safetensors.ReadForeign(f, info.Size(), is)
		if err != nil {
			return nil, nil, fmt.Errorf("neither an NPZ archive nor a safetensors file with weights and biases of float16, bfloat16, float32 or float64: %w", err)
		}
		for _, t := range foreign.Tensors {
			values := t.Wide
			for _, x := range t.Data {
				values = append(values, float64(x))
			}
			all = append(all, npy.Array{Name: t.Name, Shape: t.Shape, Values: values})
		}
	}
	arrays = map[string]npy.Array{}
	for _, a := range all {
		if _, twice := arrays[a.Name]; twice {
			return nil, nil, fmt.Errorf("it has two arrays %s: save the machine again", a.Name)
		}
		arrays[a.Name] = a
	}
	for _, name := range wanted {
		if _, is := arrays[name]; !is {
			return nil, nil, fmt.Errorf("it has no array %s, only %s: name the weights, the visible and the hidden biases", name, strings.Join(there, ", "))
		}
	}
	return arrays, slices.DeleteFunc(there, func(name string) bool { return slices.Contains(wanted, name) }), nil
}

// Converted returns parameters that define the same distribution with units of 0 and 1 and the energy of this
// package. It also returns a constant: log Z of the other program is log Z here plus this constant. log p is
// the same in both. With s = αv − β and t = α′h − β′, for the sign Minus,
//
//	W → αα′W,   b → α(b − β′W1),   c → α′(c − βWᵀ1),   constant −βΣb − β′Σc + ββ′ΣW.
func (w Weights) Converted(visible, hidden Coding, s Sign) (converted Weights, constant float64) {
	sign := 1.0
	if s == Plus {
		sign = -1
	}
	α, β := visible.units()
	αh, βh := hidden.units()
	rows, columns := w.W.Dims()
	converted = Weights{W: mat.NewDense(rows, columns, nil), B: make([]float64, rows), C: make([]float64, columns)}
	converted.W.Scale(sign*α*αh, w.W)
	for i, b := range w.B {
		row := mat.Sum(w.W.RowView(i))
		converted.B[i] = sign * α * (b - βh*row)
		constant += sign * β * (βh*row - b)
	}
	for j, c := range w.C {
		converted.C[j] = sign * αh * (c - β*mat.Sum(w.W.ColView(j)))
		constant -= sign * βh * c
	}
	return converted, constant
}

// Spins returns parameters J, B and C, with the sign Minus, that define the distribution of the model with
// units of −1 and 1. It refuses models that have a label, several hidden layers, a doubled side, or units
// that are not Bernoulli, and belief networks.
func (m *Model) Spins() (Weights, error) {
	p := m.parameters
	if err := p.Spec.checkWeights("spin"); err != nil {
		return Weights{}, err
	}
	if len(m.below) > 0 {
		return Weights{}, errors.New("a belief network has no spins, because the layers below its top are directed: open the run of a single machine")
	}
	w := Weights{W: mat.NewDense(p.Visible(), p.Hidden(), nil), B: make([]float64, p.Visible()), C: make([]float64, p.Hidden())}
	for i, b := range p.VisibleBiases {
		w.B[i] += float64(b) / 2
		for j, x := range kernels.Row(p.Weights, i) {
			coupling := float64(x) / 4
			w.W.Set(i, j, coupling)
			w.B[i] += coupling
			w.C[j] += coupling
		}
	}
	for j, c := range p.HiddenBiases {
		w.C[j] += float64(c) / 2
	}
	return w, nil
}

// Imported describes the origin of the parameters of an imported machine.
type Imported struct {
	File    string `toml:"file" json:"-"`
	Visible Coding `toml:"visible" json:"-"` // 01 or pm1
	Hidden  Coding `toml:"hidden" json:"-"`
	Sign    Sign   `toml:"sign" json:"-"` // minus or plus
	// Parameters is the SHA-256 of the converted parameters. It tells experiments apart.
	Parameters string `toml:"parameters" json:"parameters"`
	weights    *Weights
}

// checkSizes refuses weights that are nil, and biases whose number is not the number of units.
func (w Weights) checkSizes() error {
	if w.W == nil {
		return errors.New("the weights W are nil: give a matrix of visible × hidden units")
	}
	visible, hidden := w.W.Dims()
	switch {
	case len(w.B) != visible:
		return fmt.Errorf("the biases B have %s, for W with %s: give one value per unit", names.Count(len(w.B), "value"), names.Count(visible, "visible unit"))
	case len(w.C) != hidden:
		return fmt.Errorf("the biases C have %s, for W with %s: give one value per unit", names.Count(len(w.C), "value"), names.Count(hidden, "hidden unit"))
	}
	return nil
}

// largestInput is the largest input of a unit, in nats, near which single precision tells inputs one nat apart.
const largestInput = 1 << 24

// checkValues refuses values that are not finite in single precision, and units with inputs above largestInput.
func (w Weights) checkValues() error {
	for i, values := range [][]float64{w.W.RawMatrix().Data, w.B, w.C} {
		for _, x := range values {
			if !statistics.Finite(float64(float32(x))) {
				return fmt.Errorf("%s has the value %v, which is not finite in single precision: export the machine of an earlier step", []string{"W", "B", "C"}[i], x)
			}
		}
	}
	check := func(side string, biases []float64, weights func(k int) mat.Vector) error {
		for k, bias := range biases {
			if input := math.Abs(bias) + mat.Norm(weights(k), 1); input > largestInput {
				return fmt.Errorf("%s unit %d has inputs of up to %.3g nats, but single precision tells inputs one nat apart only up to %.3g: export the machine of an earlier step, or clip its parameters", side, k+1, input, float64(largestInput))
			}
		}
		return nil
	}
	return cmp.Or(check("visible", w.B, w.W.RowView), check("hidden", w.C, w.W.ColView))
}

// Orders returns the mean log-pseudo-likelihoods, in nats, of at most 100 training rows of set under the machine that
// Import makes, and under the machine with W transposed. They show whether a square W is visible × hidden, which its
// shape cannot.
func (w Weights) Orders(set *dataset.Set, from Imported) (as, transposed float64, err error) {
	var means [2]float64
	for k, weights := range []mat.Matrix{w.W, w.W.T()} {
		converted, _ := Weights{W: mat.DenseCopyOf(weights), B: w.B, C: w.C}.Converted(from.Visible, from.Hidden, from.Sign)
		m := &Model{parameters: MachineSpec{Hidden: len(w.C)}.parameters(len(w.B))}
		converted.write(m.parameters)
		logs, err := m.LogPseudoLikelihoods(set.Train().Subset(100, 1), len(w.B))
		if err != nil {
			return 0, 0, err
		}
		means[k], _ = statistics.MeanAndErrorOf(logs)
	}
	return means[0], means[1], nil
}

// Import creates a run in a directory, without any training steps, from the parameters that Converted
// returns. Evaluations and further training use the rows of set. If the directory already holds the same run,
// Import returns that run. from describes the origin of the weights; Import fills in their checksum. It refuses
// weights and biases that do not fit each other or the rows, or that are too large for single precision.
func (w Weights) Import(set *dataset.Set, from Imported, dir string) (*Run, error) {
	if err := w.checkSizes(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(from.File)
	if err != nil {
		return nil, err
	}
	visible, hidden := w.W.Dims()
	if units := set.Shape().Units(); visible != units {
		return nil, fmt.Errorf("%s has %d visible units, the rows of %s have %d: name the data on which the machine was trained", from.File, visible, set.Name(), units)
	}
	converted, _ := w.Converted(from.Visible, from.Hidden, from.Sign)
	if err := converted.checkValues(); err != nil {
		return nil, err
	}
	p := MachineSpec{Hidden: hidden}.parameters(visible)
	converted.write(p)
	e := PCD().Experiment(New(set.Shape()).Hidden(hidden), set)
	e.Method.BatchSize = min(e.Method.BatchSize, set.Train().Rows)
	from.File, from.weights, from.Parameters = path, &converted, runs.Snapshot{Tensors: parameterTensors("", p)}.Checksum()
	e.Imported = &from
	if err := runs.Taken(dir); err != nil {
		return nil, err // Train would wait for the end of a lease, with a context that has ended
	}
	before, cancel := context.WithCancel(context.Background())
	cancel()
	run, err := e.Train(before, set, dir, runs.Quiet)
	if errors.As(err, new(*runs.Interruption)) {
		err = nil // the run has a checkpoint before the first step
	}
	return run, err
}

func (w Weights) write(p *Parameters) {
	for k, x := range slices.Concat(w.W.RawMatrix().Data, w.B, w.C) {
		p.Flat[k] = float32(x)
	}
}

// checkImported refuses imported parameters together with pretrained layers or a machine below, and machines that
// need more than W, b and c. It ignores imported parameters that a start replaces.
func (e Experiment) checkImported() error {
	switch {
	case e.Imported == nil || e.Start != nil:
		return nil
	case e.Pretrained != nil || e.Below != nil:
		return errors.New("imported together with pretrained or below: the file has all parameters; leave one of them out")
	}
	return e.Machine.checkWeights("imported")
}

// checkWeights refuses a machine that is not described by W, b and c alone.
func (s MachineSpec) checkWeights(what string) error {
	if s.Visible != Bernoulli || s.HiddenUnits != Bernoulli || s.labelled() || len(s.Above) > 0 || s.Doubled != DoubledNeither {
		return fmt.Errorf("%s machines have Bernoulli units, one hidden layer, and no label", what)
	}
	return nil
}

// restore copies the imported parameters into p. Only an experiment that Import has just made holds them in
// memory.
func (i *Imported) restore(p *Parameters) error {
	if i.weights == nil {
		return fmt.Errorf("the parameters were imported from %s: import that again, or start from a run that has them (--from)", i.File)
	}
	i.weights.write(p)
	return nil
}
