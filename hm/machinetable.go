package hm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// String returns the table of the machine's layers, with the memory of Fisher blocks under the
// settings of NRWS. If the machine is not valid, String returns the text of the error.
func (m Machine) String() string { return m.spec.text(m.shape, NRWS().spec.algorithm(1)) }

// Table returns one row per layer and network: the units, the connection with its parameters, and the
// inverse Fisher blocks under the settings of NRWS. If the machine is not valid, the table has no rows.
func (m Machine) Table() *runs.Table {
	t, _, _ := m.spec.table(m.shape, NRWS().spec.algorithm(1))
	return t
}

// MachineTable returns a table of the layers of the experiment's machine on set: the units, and the
// connections of both networks with their parameters. If the experiment's method has Fisher blocks, the
// table also lists the largest memory that their inverses can take. If Check would return an error,
// MachineTable returns the error's text.
func (e Experiment) MachineTable(set *dataset.Set) string {
	if err := e.checkSettings(set); err != nil {
		return err.Error()
	}
	machine, err := e.Machine.withGroupsOf(set)
	if err != nil {
		return err.Error()
	}
	return machine.text(set.Shape(), e.Method.algorithm(e.stepsPerEpoch(set)))
}

func (s MachineSpec) text(shape dataset.Shape, algorithm engine.Algorithm) string {
	t, blocks, err := s.table(shape, algorithm)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%v%d parameters", t, s.architecture(shape).Size())
	if algorithm.Metric != Euclidean {
		text += fmt.Sprintf(", inverse Fisher blocks of at most %s (metric %v)", size(blocks), algorithm.Metric)
		if len(s.Tanh) > 0 {
			text += ", tanh layers in the Euclidean metric"
		}
	}
	return text + "\n"
}

// table returns a table of the layers, and the size of all inverse Fisher blocks in bytes.
func (s MachineSpec) table(shape dataset.Shape, algorithm engine.Algorithm) (t *runs.Table, blocks int64, err error) {
	columns := []runs.Column{
		{Key: "layer"}, {Key: "units"}, {Key: "kind"}, {Key: "network"}, {Key: "connection"},
		{Key: "parameters", Kind: runs.Integer}, {Key: "fisher_blocks", Label: "Fisher blocks"}, {Key: "memory"},
	}
	if algorithm.Metric == Euclidean {
		columns = columns[:6]
	}
	t = runs.NewTable("machine", "", columns...)
	if err := s.check(shape, "the data"); err != nil {
		return t, 0, err
	}
	backend, err := openBackend()
	if err != nil {
		return t, 0, err
	}
	a := s.architecture(shape)
	generative, recognition := backend.MetricBlocks(a, algorithm)
	row := func(layer, units, kind, network, connection string, parameters int, blocks, memory string) {
		t.Add([]any{layer, units, kind, network, connection, parameters, blocks, memory}[:len(columns)]...)
	}
	blocksOf := func(i int, c engine.Connection, form string) string {
		blocks, size, most := c.Outputs, c.Inputs, ""
		if sizes := a.Blocks(i); sizes != nil && algorithm.Metric == Block {
			blocks = len(sizes)
			if size = slices.Max(sizes) * c.Inputs; slices.Min(sizes) < slices.Max(sizes) {
				most = "at most "
			}
		}
		return fmt.Sprintf("%d of %s%d×%d, %s", blocks, most, size, size, form)
	}
	for i, units := range a.Units {
		name, form := fmt.Sprintf("h%d", i), fmt.Sprint(units)
		if i == 0 {
			name = "x"
		}
		if a.Blocks(i) != nil {
			form = fmt.Sprintf("%d in %s", units, names.Count(len(a.Variables(i)), "group"))
		}
		if grid := s.grid(a, i); grid != (engine.Grid{}) {
			form = fmt.Sprintf("%d = %v", units, grid)
		}
		parameters := func(network engine.Network) (sum int) {
			for k := range len(a.Tanh) + 1 {
				c := network.Tanh(k).Connection(a, i)
				sum += c.Outputs * c.Inputs
			}
			return sum
		}
		kind := a.Kind(i).String()
		if a.Kind(i) == engine.Categorical && !a.Binary(i) {
			kind = "mixed"
		}
		p := engine.Generative.Connection(a, i)
		row(name, form, kind, "p", connection(a, p, i == a.Depth(), "deconvolution"), parameters(engine.Generative), blocksOf(i, p, generative[i].Form), size(generative[i].Bytes))
		if i > 0 {
			q := engine.Recognition.Connection(a, i)
			row(name, "", "", "q", connection(a, q, false, "convolution"), parameters(engine.Recognition), blocksOf(i, q, recognition[i].Form), size(recognition[i].Bytes))
		}
	}
	if a.Classes > 0 {
		parents := "x and h1"
		if a.HiddenClassifier {
			parents = "h1"
		}
		row("y", fmt.Sprint(a.Classes), engine.Categorical.String(), "p = q", "dense, to "+parents, a.Classes*(1+a.ClassifierVisible()+a.Units[1]), "none", "")
	}
	return t, total(generative) + total(recognition), nil
}

// grid returns the height, width and channels of layer i as an image, or the zero Grid if no convolution
// determines them.
func (s MachineSpec) grid(a engine.Architecture, i int) engine.Grid {
	switch n := len(a.Convolutions); {
	case i < n:
		return a.Convolutions[i].Fine
	case i == n && n > 0:
		return a.Convolutions[i-1].Coarse()
	}
	return engine.Grid{}
}

func connection(a engine.Architecture, c engine.Connection, prior bool, shared string) string {
	switch {
	case prior:
		return "prior"
	case c.Shared():
		return shared
	case len(a.Tanh) > 0:
		return "dense, tanh " + strings.Trim(fmt.Sprint(a.Tanh), "[]")
	}
	return "dense"
}

func total(blocks []engine.Blocks) (sum int64) {
	for _, b := range blocks {
		sum += b.Bytes
	}
	return sum
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}
