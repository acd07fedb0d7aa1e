package boltzmann

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/runs"
)

// sklearnLayout says where scikit-learn has the parameters of a machine.
var sklearnLayout = Layout{Weights: "components_", Visible: "intercept_visible_", Hidden: "intercept_hidden_", Transposed: true}

const sklearnFile = "testdata/sklearn.npz" // which notebooks/sklearn_rbm.py makes

// enumerated is a machine of another program, whose units have two values each.
func enumerated(w Weights, visible, hidden Coding, s Sign) *oracle.Machine {
	states := func(n int, c Coding) [][]float64 {
		α, β := c.units()
		all := oracle.Binary(n)
		for _, state := range all {
			floats.Scale(α, state)
			floats.AddConst(-β, state)
		}
		return all
	}
	parameters := slices.Concat(w.W.RawMatrix().Data, w.B, w.C)
	if s == Plus {
		floats.Scale(-1, parameters)
	}
	return oracle.Bipartite(states(len(w.B), visible), states(len(w.C), hidden), parameters)
}

// Parameters that are converted have the same log p of each state, and log Z but for the constant, for all
// codings and signs.
func TestConvertedWeightsHaveTheSameDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 3))
	drawn := func(n int) []float64 {
		x := make([]float64, n)
		for k := range x {
			x[k] = random.NormFloat64()
		}
		return x
	}
	w := Weights{W: mat.NewDense(4, 3, drawn(12)), B: drawn(4), C: drawn(3)}
	for _, visible := range []Coding{ZeroOne, PlusMinusOne} {
		for _, hidden := range []Coding{ZeroOne, PlusMinusOne} {
			for _, sign := range []Sign{Minus, Plus} {
				theirs := enumerated(w, visible, hidden, sign)
				converted, constant := w.Converted(visible, hidden, sign)
				ours := enumerated(converted, ZeroOne, ZeroOne, Minus)
				if z, want := ours.LogZ()+constant, theirs.LogZ(); math.Abs(z-want) > 1e-12 {
					t.Errorf("%v, %v, %v: log Z with the constant is %v, want %v", visible, hidden, sign, z, want)
				}
				α, β := visible.units()
				for _, v := range oracle.Binary(4) {
					s := slices.Clone(v)
					floats.Scale(α, s)
					floats.AddConst(-β, s)
					if got, want := ours.LogP(v), theirs.LogP(s); math.Abs(got-want) > 1e-12 {
						t.Fatalf("%v, %v, %v: log p of %v is %v, want %v", visible, hidden, sign, v, got, want)
					}
				}
			}
		}
	}
}

// everyRow is a set of all rows of units, row n with unit i on if bit i of n is.
func everyRow(t *testing.T, units int) *dataset.Set {
	t.Helper()
	var rows [][]float64
	for n := range 1 << units {
		row := make([]float64, units)
		for i := range row {
			row[i] = float64(n >> i & 1)
		}
		rows = append(rows, row)
	}
	set, err := dataset.FromRows("every row", dataset.Shape{Height: 1, Width: units}, rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// numbers reads an array of the file of scikit-learn that is no parameter.
func numbers(t *testing.T, name string) []float64 {
	t.Helper()
	f, err := os.Open(sklearnFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	all, err := npy.ReadArchive(f, info.Size(), func(of string) bool { return of == name })
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, error %v", all, err)
	}
	return all[0].Values
}

// A machine of scikit-learn has, once imported, the log p of each row that enumeration gives, and the free
// energies that scikit-learn computes. AIS, RAISE and further training take it as any run; a start from the run
// replaces the import in its experiment.
func TestMachinesOfScikitLearnAreImported(t *testing.T) {
	w, err := ReadWeights(sklearnFile, sklearnLayout)
	if err != nil {
		t.Fatal(err)
	}
	set, dir := everyRow(t, 9), t.TempDir()
	from := Imported{File: sklearnFile}
	if _, err := w.Import(set, from, dir); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if text := run.String(); !strings.HasSuffix(text, "; imported") || !run.Imported() {
		t.Errorf("the run is described as %q", text)
	}
	list, _, err := runs.List(dir)
	if err != nil || len(list.Rows()) != 1 || list.Rows()[0][1] != string(runs.Imported) {
		t.Errorf("the run is listed as %v (%v)", list, err)
	}
	logP, err := run.ExactLogP(t.Context(), set.Test())
	if err != nil {
		t.Fatal(err)
	}
	energies, err := run.FreeEnergy(t.Context(), set.Test())
	if err != nil {
		t.Fatal(err)
	}
	if want := numbers(t, "log_p"); !floats.EqualApprox(logP, want, 1e-5) {
		t.Errorf("log p is %v, want %v", logP[:9], want[:9])
	}
	if want := numbers(t, "free_energy"); !floats.EqualApprox(energies, want, 1e-5) {
		t.Errorf("free energies are %v, want %v", energies[:9], want[:9])
	}
	few, a := set.Test().Subset(10, 1), Annealing{Schedule: Even(200), Chains: 20}
	e, err := run.Evaluate(t.Context(), set, few, Annealing{}, nil)
	if err == nil {
		e, err = e.WithRAISE(t.Context(), run.Model, set, few, a, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := run.AIS(t.Context(), set.Train(), a, nil)
	if err != nil || math.Abs(float64(z.Value-e.LogZ.Value)) > 4*float64(z.SE) {
		t.Errorf("log Z by AIS is %v (%v), where it is %v", z, err, e.LogZ.Value)
	}
	if _, err := w.Import(set, from, dir); err != nil {
		t.Errorf("the same import again: %v", err)
	}
	other := Weights{W: mat.DenseCopyOf(w.W), B: w.B, C: w.C}
	other.W.Set(0, 0, 7)
	if _, err := other.Import(set, from, dir); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("another machine in the same directory: error %v", err)
	}
	longer, err := short(PCD()).From(dir, "last").Train(t.Context(), New(set.Shape()).Hidden(5), set, t.TempDir())
	if err != nil || longer.Epochs() != 3 {
		t.Errorf("training from there ended with %v, %v", longer, err)
	}
	if _, err := run.Experiment().Train(t.Context(), set, t.TempDir()); err == nil || !strings.Contains(err.Error(), "import that again") {
		t.Errorf("training of the experiment in another directory: error %v", err)
	}
	again := run.Experiment()
	again.Start, again.Epochs = &runs.Source{Run: dir}, 1
	if longer, err = again.Train(t.Context(), set, t.TempDir()); err != nil || longer.Experiment().Imported != nil {
		t.Errorf("training of its experiment from there: %v, error %v", longer, err)
	}
	leased := t.TempDir() // where a program on another machine may train: Import does not wait until its lease expires
	if err := os.WriteFile(filepath.Join(leased, file.LeaseFile), []byte(`{"holder":"somebody","host":"there","system":"another","beat":0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = w.Import(set, from, leased)
	if taken, is := errors.AsType[*runs.TakenError](err); !is || taken.Host != "there" {
		t.Errorf("the error of a leased directory is %v", err)
	}
}

// Files that have no such machine are refused, with what to do.
func TestWrongImportsAreRefused(t *testing.T) {
	at := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := func(change func(*Layout)) Layout {
		l := sklearnLayout
		change(&l)
		return l
	}
	for _, c := range []struct {
		path, says string
		layout     Layout
	}{
		{sklearnFile, "hidden × visible, so give --transposed", with(func(l *Layout) { l.Transposed = false })},
		{sklearnFile, "no array W, only components_, intercept_visible_", with(func(l *Layout) { l.Weights = "W" })},
		{sklearnFile, "give three names", with(func(l *Layout) { l.Hidden = l.Visible })},
		{sklearnFile, "have the shape [5 9]: give a vector", with(func(l *Layout) { l.Weights, l.Visible = l.Visible, l.Weights })},
		{sklearnFile, "name the arrays of one machine", with(func(l *Layout) { l.Visible = "log_p" })},
		{at("a.h5", "\x89HDF\r\n\x1a\n"), "notebooks/rbms.py", sklearnLayout},
		{at("a.npz", "PK\x03\x04 and more"), "not an NPZ archive", sklearnLayout},
		{at("a.safetensors", "no such file"), "nor a safetensors file", sklearnLayout},
		{at("short", "x"), "too short", sklearnLayout},
	} {
		if _, err := ReadWeights(c.path, c.layout); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("error %v, which does not say %q", err, c.says)
		}
	}
	w, err := ReadWeights(sklearnFile, sklearnLayout)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Import(everyRow(t, 4), Imported{File: sklearnFile}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "9 visible units, the rows of every row have 4") {
		t.Errorf("error %v", err)
	}
	two := func() *mat.Dense { return mat.NewDense(2, 1, []float64{1, 2}) }
	for says, w := range map[string]Weights{
		"the weights W are nil":                             {B: []float64{1, 2}, C: []float64{3}},
		"the biases B have 1 value, for W with 2 visible":   {W: two(), B: []float64{1}, C: []float64{3}},
		"the biases C have 2 values, for W with 1 hidden":   {W: two(), B: []float64{1, 2}, C: []float64{3, 4}},
		"W has the value 1e+300, which is not finite in si": {W: mat.NewDense(2, 1, []float64{1, 1e300}), B: []float64{1, 2}, C: []float64{3}},
		"visible unit 2 has inputs of up to 1.68e+07 nats":  {W: two(), B: []float64{1, 1 << 24}, C: []float64{3}},
		"hidden unit 1 has inputs of up to 1e+38 nats":      {W: two(), B: []float64{1, 2}, C: []float64{-1e38}},
		"B has the value NaN":                               {W: two(), B: []float64{1, math.NaN()}, C: []float64{3}},
		"C has the value +Inf":                              {W: two(), B: []float64{1, 2}, C: []float64{math.Inf(1)}},
	} {
		if _, err := w.Import(everyRow(t, 2), Imported{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, which does not say %q", err, says)
		}
	}
	e := short(PCD()).Experiment(machineFor(patterns(t)), patterns(t))
	e.Imported = &Imported{}
	e.Machine.Visible = Gaussian
	if err := e.checkImported(); err == nil || !strings.Contains(err.Error(), "Bernoulli units") {
		t.Errorf("error %v", err)
	}
}

// foreign returns a safetensors file that another program could write, and whose tensors have the names of the types in
// types, in this order.
func foreign(types []string, tensors map[string][]byte, shapes map[string]string) string {
	header, data := "", ""
	for i, of := range types {
		name, dtype, _ := strings.Cut(of, " ")
		if i > 0 {
			header += ","
		}
		header += fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, name, dtype, shapes[name], len(data), len(data)+len(tensors[name]))
		data += string(tensors[name])
	}
	length := len(header) + 2
	return string([]byte{byte(length), byte(length >> 8), 0, 0, 0, 0, 0, 0}) + "{" + header + "}" + data
}

// Half precision is read value by value, with its subnormal numbers, beside tensors of any type, which are ignored. Infinite
// numbers are refused.
func TestHalfPrecisionIsImported(t *testing.T) {
	shapes := map[string]string{"W": "[2,1]", "b": "[2]", "c": "[1]", "step": "[]", "mask": "[3]", "odd": "[2]"}
	read := func(w, b, c string, of map[string][]byte) (Weights, error) {
		of["step"], of["mask"], of["odd"] = make([]byte, 8), make([]byte, 3), []byte{1}
		path := filepath.Join(t.TempDir(), "a.safetensors")
		text := foreign([]string{"step I64", "W " + w, "mask BOOL", "b " + b, "odd F4", "c " + c}, of, shapes)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadWeights(path, Layout{Weights: "W", Visible: "b", Hidden: "c"})
	}
	w, err := read("F16", "BF16", "F32", map[string][]byte{
		"W": {0x01, 0x00, 0xff, 0xfb}, // the smallest subnormal number, and the largest number with a minus
		"b": {0xc0, 0xbf, 0x01, 0x00}, // -1.5 and the smallest subnormal number
		"c": {0, 0, 0x40, 0x3f},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Concat(w.W.RawMatrix().Data, w.B, w.C), []float64{0x1p-24, -65504, -1.5, 0x1p-133, 0.75}; !slices.Equal(got, want) {
		t.Errorf("read as %v, want %v", got, want)
	}
	if want := []string{"step", "mask", "odd"}; !slices.Equal(w.Ignored, want) {
		t.Errorf("ignored %v, want %v", w.Ignored, want)
	}
	for _, c := range []struct {
		w, b, says string
		infinite   []byte
	}{
		{"F16", "F32", "W has the value -Inf", []byte{0, 0, 0x00, 0xfc}},
		{"BF16", "F32", "W has the value +Inf", []byte{0x80, 0x7f, 0, 0}},
		{"BF16", "F32", "W has the value NaN", []byte{0xc0, 0x7f, 0, 0}},
		{"I16", "F32", `tensor "W" holds I16`, []byte{0, 0, 0, 0}},
	} {
		_, err := read(c.w, c.b, "F32", map[string][]byte{"W": c.infinite, "b": make([]byte, 8), "c": make([]byte, 4)})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, which does not say %q", err, c.says)
		}
	}
}

// The log-pseudo-likelihood of an import is the sum over units of log p of the unit given the others, and tells which way
// round a square W is.
func TestSquareWeightsFitTheDataOneWay(t *testing.T) {
	w := Weights{W: mat.NewDense(3, 3, []float64{4, 0, 0, 4, 0, 1, 4, -1, 0}), B: []float64{-2, -2, -2}, C: []float64{-6, 0, 0}}
	rows := [][]float64{{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}}
	set, err := dataset.FromRows("alike", dataset.Shape{Height: 1, Width: 3}, rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	as, other, err := w.Orders(set, Imported{})
	if err != nil || as < other+1 {
		t.Errorf("%v nats, and %v if transposed (%v)", as, other, err)
	}
	for got, w := range map[float64]Weights{as: w, other: {W: mat.DenseCopyOf(w.W.T()), B: w.B, C: w.C}} {
		of, want := enumerated(w, ZeroOne, ZeroOne, Minus), 0.0
		for _, v := range rows {
			for i := range v {
				other := slices.Clone(v)
				other[i] = 1 - v[i]
				want -= math.Log1p(math.Exp(of.LogP(other)-of.LogP(v))) / float64(len(rows))
			}
		}
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("log pseudo-likelihood %v, want %v", got, want)
		}
	}
}
