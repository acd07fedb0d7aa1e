package hm

import (
	"strings"
	"testing"
)

// The table must list each layer with its parameters and its blocks: one per unit, or one per
// channel if weights are shared, and twice as many for Gaussian units.
func TestMachinePrintsItsLayers(t *testing.T) {
	m := New(shape(6, 6)).Convolve(Convolution{Channels: 3, Height: 2, Width: 2, Stride: 2}).Dense(5).Units(Gaussian, Bernoulli, Gaussian)
	table := strings.Join(strings.Fields(m.String()), " ")
	for _, part := range []string{
		"x 36 = 6×6×1 gaussian p deconvolution 26 2 of 13×13",
		"h1 27 = 3×3×3 bernoulli p dense 162 27 of 6×6",
		"q convolution 15 3 of 5×5",
		"h2 5 gaussian p prior 10 10 of 1×1",
		"q dense 280 10 of 28×28",
		"493 parameters",
	} {
		if !strings.Contains(table, part) {
			t.Errorf("the table does not say %q:\n%s", part, m)
		}
	}
}

// Blocks of more parents than samples must be kept in Woodbury's form, which is exact, and others directly; the
// table must say so.
func TestTableHasTheFormOfBlocks(t *testing.T) {
	m := New(shape(28, 28)).Dense(2500, 2400, 20, 10)
	table := strings.Join(strings.Fields(m.String()), " ")
	for _, part := range []string{"2500 of 785×785, Woodbury", "2500 of 2401×2401, Woodbury", "2400 of 2501×2501, Woodbury", "20 of 11×11, direct"} {
		if !strings.Contains(table, part) {
			t.Errorf("the table does not say %q:\n%s", part, m)
		}
	}
}

// The table of an unchecked experiment must report what is wrong with it.
func TestTableAndMemoryOfWrongSettings(t *testing.T) {
	set := patterns(t)
	e := short(RWS()).BatchSize(0).Experiment(machineFor(set), set)
	if table := e.MachineTable(set); !strings.Contains(table, "batch_size = 0") {
		t.Errorf("the table is %q", table)
	}
	_, err := e.Memory(set)
	wantError(t, err, "batch_size = 0", "at least 1")
	_, err = short(RWS()).Experiment(New(set.Shape()), set).Memory(set)
	wantError(t, err, "without hidden layers")
}

// An experiment that does not fit into memory must be refused, with its size.
func TestMemoryIsChecked(t *testing.T) {
	set := patterns(t)
	e := short(NRWS()).Experiment(New(set.Shape()).Dense(300, 300), set)
	p := planned(t, e, set)
	if err := p.checkMemory(1<<40, "this machine"); err != nil {
		t.Error(err)
	}
	err := p.checkMemory(1<<20, "this machine")
	if err == nil {
		t.Fatal("a machine that is larger than memory is accepted")
	}
	for _, part := range []string{"MiB of memory", "inverse Fisher blocks", "this machine has 1.0 MiB", "convolutions"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}
