package hm

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// String is the table of the machine's layers, with the memory that Fisher
// blocks take with the settings of NRWS.
func (m Machine) String() string {
	return m.spec.table(m.shape, NRWS().spec.algorithm(1))
}

// MachineTable lists the layers of the experiment's machine on set: the units,
// the connections of both networks with their parameters, and the most memory
// that their inverse Fisher blocks take with the experiment's method; or it says
// which setting Check refuses.
func (e Experiment) MachineTable(set *dataset.Set) string {
	if err := e.checkSettings(set); err != nil {
		return err.Error()
	}
	return e.Machine.table(set.Shape(), e.algorithm(set))
}

func (s MachineSpec) table(shape dataset.Shape, algorithm engine.Algorithm) string {
	a := s.architecture(shape)
	if err := s.check(shape, "the data"); err != nil {
		return err.Error()
	}
	backend, err := openBackend()
	if err != nil {
		return err.Error()
	}
	generative, recognition := backend.MetricMemory(a, algorithm)
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LAYER\tUNITS\tKIND\tNETWORK\tCONNECTION\tPARAMETERS\tFISHER BLOCKS\tMEMORY")
	row := func(layer, units, network, connection string, c engine.Connection, bytes int64) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d of %d×%d\t%s\n", layer, units, network, connection,
			c.Outputs*c.Inputs, c.Outputs, c.Inputs, c.Inputs, size(bytes))
	}
	for i, units := range a.Units {
		name, form := fmt.Sprintf("h%d", i), fmt.Sprint(units)
		if i == 0 {
			name = "x"
		}
		if grid := s.grid(a, i); grid != (engine.Grid{}) {
			form = fmt.Sprintf("%d = %v", units, grid)
		}
		p := a.GenerativeConnection(i)
		row(name, fmt.Sprintf("%s\t%v", form, a.Kind(i)), "p", connection(p, i == a.Depth(), "deconvolution"), p, generative[i])
		if i > 0 {
			q := a.RecognitionConnection(i)
			row("", "\t", "q", connection(q, false, "convolution"), q, recognition[i])
		}
	}
	if a.Classes > 0 {
		parents := "x and h1"
		if a.HiddenClassifier {
			parents = "h1"
		}
		fmt.Fprintf(t, "y\t%d\t%v\tp = q\tdense, to %s\t%d\tnone\t\n", a.Classes, engine.Categorical, parents, a.Classes*(1+a.ClassifierVisible()+a.Units[1]))
	}
	t.Flush()
	fmt.Fprintf(&text, "%d parameters, inverse Fisher blocks of at most %s (metric %v)\n", a.Size(), size(total(generative)+total(recognition)), algorithm.Metric)
	return text.String()
}

// grid is how a layer lies in an image, where a convolution says so.
func (s MachineSpec) grid(a engine.Architecture, i int) engine.Grid {
	switch n := len(a.Convolutions); {
	case i < n:
		return a.Convolutions[i].Fine
	case i == n && n > 0:
		return a.Convolutions[i-1].Coarse()
	}
	return engine.Grid{}
}

func connection(c engine.Connection, prior bool, shared string) string {
	switch {
	case prior:
		return "prior"
	case c.Shared():
		return shared
	}
	return "dense"
}

func total(bytes []int64) (sum int64) {
	for _, b := range bytes {
		sum += b
	}
	return sum
}

// size writes a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}

// checkMemory refuses an experiment that does not fit into what is available of
// the memory of something, where it is known how much that is.
func (e Experiment) checkMemory(set *dataset.Set, available int64, of string) error {
	if available <= 0 {
		return nil
	}
	needed, err := e.Memory(set)
	if err != nil || needed <= available {
		return err
	}
	backend, err := openBackend()
	if err != nil {
		return err
	}
	p, q := backend.MetricMemory(e.Machine.architecture(set.Shape()), e.algorithm(set))
	return fmt.Errorf("training takes %s of memory, %s of it inverse Fisher blocks, where %s has %s: use the metric diagonal or none, smaller layers, convolutions, or fewer samples",
		size(needed), size(total(p)+total(q)), of, size(available))
}
