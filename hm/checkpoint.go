package hm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// checkpointFormat is the version of the files that this package writes.
const checkpointFormat = 1

// checkpoint is all that training needs to go on where it stopped, and nothing
// else: an interrupted run that is resumed ends in the same bytes as one that
// was not. Its file is in safetensors format, with float32 tensors
//
//	generative.I           layer I of p, units × (1 + parents): a row a unit, bias first;
//	                       of Gaussian units the rows of all means and then of all
//	                       deviations; of a deconvolution, channels × (1 + patch)
//	recognition.I          layer I of q, likewise
//	classifier             q(y|x,h¹) of labels beside the networks, likewise
//	moment.N.NETWORK.I     slot N of the optimiser, likewise
//	refresh.NETWORK.I      the parameters of the last Fisher refresh, likewise
//
// and the fields of position as JSON in the metadata.
type checkpoint struct {
	state    *engine.State
	position position
}

// position is where in training a checkpoint was taken.
type position struct {
	Format     int    `json:"format"`
	Experiment string `json:"experiment"` // Experiment.Hash
	Units      []int  `json:"units"`      // of the layers, visible first
	Coding     Coding `json:"coding"`
	Kinds      []Kind `json:"kinds,omitempty"` // of their units
	// Convolutions join the layers that are not joined densely.
	Convolutions []engine.Convolution `json:"convolutions,omitempty"`
	// Classes is the number of classes of a classifier beside the networks, which
	// sees h¹ alone where HiddenClassifier is true.
	Classes          int  `json:"classes,omitempty"`
	HiddenClassifier bool `json:"hidden_classifier,omitempty"`
	// Shape is how the visible units form an image.
	Shape   dataset.Shape `json:"shape"`
	Step    int           `json:"step"`    // steps done
	Epoch   int           `json:"epoch"`   // epochs done
	Refresh int           `json:"refresh"` // step of the last Fisher refresh
	// Sums over the minibatches of the epoch under way, weighted by their
	// rows.
	Sums Measures `json:"sums"`
	Rows int      `json:"rows"`
	// Norms are those after the last step of the epoch under way, once that is
	// done.
	Norms *Norms `json:"norms,omitempty"`
	// The epoch of the highest validation log p, 0 if there is none.
	BestEpoch int     `json:"best_epoch"`
	BestLogP  float64 `json:"best_log_p"`
	Finished  bool    `json:"finished"`
}

// save writes the checkpoint beside path and renames it, so that path holds a
// whole checkpoint at any time. It refuses parameters that are not finite.
func (c *checkpoint) save(path string) error {
	for _, x := range c.state.Parameters.Flat {
		if !finite(float64(x)) {
			return ErrDiverged
		}
	}
	f, err := c.file()
	if err != nil {
		return err
	}
	b, err := safetensors.Marshal(f)
	if err != nil {
		return err
	}
	return writeAside(path, b)
}

// file is the checkpoint as a file holds it.
func (c *checkpoint) file() (*safetensors.File, error) {
	c.position.Format = checkpointFormat
	c.position.Units = c.state.Parameters.Architecture.Units
	c.position.Coding = c.state.Parameters.Architecture.Coding
	c.position.Kinds = c.state.Parameters.Architecture.Kinds
	c.position.Convolutions = c.state.Parameters.Architecture.Convolutions
	c.position.Classes = c.state.Parameters.Architecture.Classes
	c.position.HiddenClassifier = c.state.Parameters.Architecture.HiddenClassifier
	c.position.Step = c.state.Step
	c.position.Refresh = c.state.RefreshStep
	text, err := json.Marshal(c.position)
	if err != nil {
		return nil, err
	}
	f := &safetensors.File{Metadata: map[string]string{"helmholtz": string(text)}}
	f.Tensors = appendTensors(f.Tensors, "", c.state.Parameters)
	for i, m := range c.state.Moments {
		f.Tensors = appendTensors(f.Tensors, fmt.Sprintf("moment.%d.", i), m)
	}
	if c.state.RefreshParameters != nil {
		f.Tensors = appendTensors(f.Tensors, "refresh.", c.state.RefreshParameters)
	}
	return f, nil
}

func appendTensors(tensors []safetensors.Tensor, prefix string, p *engine.Parameters) []safetensors.Tensor {
	for name, l := range layers(p) {
		tensors = append(tensors, safetensors.Tensor{
			Name: prefix + name, Shape: []int{l.Units, l.Width}, Data: l.Data,
		})
	}
	return tensors
}

// layers yields the layers of both networks by the names of their tensors.
func layers(p *engine.Parameters) func(yield func(string, engine.Layer) bool) {
	return func(yield func(string, engine.Layer) bool) {
		for i, l := range p.Generative {
			if !yield(fmt.Sprintf("generative.%d", i), l) {
				return
			}
		}
		for i, l := range p.Recognition[1:] {
			if !yield(fmt.Sprintf("recognition.%d", i+1), l) {
				return
			}
		}
		if p.Classifier.Units > 0 {
			yield("classifier", p.Classifier)
		}
	}
}

// loadCheckpoint reads a checkpoint.
func loadCheckpoint(path string) (*checkpoint, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parseCheckpoint(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or start a new run in another directory", path, err)
	}
	return c, nil
}

func parseCheckpoint(b []byte) (*checkpoint, error) {
	f, err := safetensors.Unmarshal(b)
	if err != nil {
		return nil, fmt.Errorf("torn or foreign checkpoint: %w", err)
	}
	if _, model := f.Metadata[modelMetadata]; model {
		return nil, errors.New("a model file, not a checkpoint")
	}
	return checkpointOf(f)
}

// checkpointOf reads the checkpoint that a file holds.
func checkpointOf(f *safetensors.File) (*checkpoint, error) {
	text, ok := f.Metadata["helmholtz"]
	if !ok {
		return nil, errors.New("not a checkpoint of a Helmholtz machine: it has no metadata of one")
	}
	c := &checkpoint{}
	if err := json.Unmarshal([]byte(text), &c.position); err != nil {
		return nil, fmt.Errorf("the metadata of the checkpoint: %w", err)
	}
	at := c.position
	if at.Format != checkpointFormat {
		return nil, fmt.Errorf("checkpoint of format %d, where this version reads format %d", at.Format, checkpointFormat)
	}
	var err error
	architecture := engine.Architecture{Units: at.Units, Coding: at.Coding, Kinds: at.Kinds, Convolutions: at.Convolutions, Classes: at.Classes, HiddenClassifier: at.HiddenClassifier}
	if err := architecture.Check(); err != nil {
		return nil, err
	}
	if at.Shape.Height < 1 || at.Shape.Units() != architecture.Visible() {
		return nil, fmt.Errorf("images of %v do not have %d visible units", at.Shape, architecture.Visible())
	}
	if at.Step < 0 || at.Epoch < 0 || at.Rows < 0 || at.Refresh < 0 || at.Refresh > at.Step {
		return nil, fmt.Errorf("no run has done %d steps, %d epochs and %d rows, the last refresh at step %d", at.Step, at.Epoch, at.Rows, at.Refresh)
	}
	values := 0
	for _, t := range f.Tensors {
		values += len(t.Data)
	}
	if size := architecture.Size(); size > values {
		return nil, fmt.Errorf("layers of %v units have %d parameters, the checkpoint holds %d values", at.Units, size, values)
	}
	c.state = &engine.State{Step: at.Step, RefreshStep: at.Refresh}
	if c.state.Parameters, err = readTensors(f, "", architecture); err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		prefix := fmt.Sprintf("moment.%d.", i)
		if _, more := f.Tensor(prefix + "generative.0"); !more {
			break
		}
		m, err := readTensors(f, prefix, architecture)
		if err != nil {
			return nil, err
		}
		c.state.Moments = append(c.state.Moments, m)
	}
	if _, refreshed := f.Tensor("refresh.generative.0"); refreshed {
		if c.state.RefreshParameters, err = readTensors(f, "refresh.", architecture); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func readTensors(f *safetensors.File, prefix string, a engine.Architecture) (*engine.Parameters, error) {
	p := engine.NewParameters(a)
	for name, l := range layers(p) {
		t, ok := f.Tensor(prefix + name)
		if !ok {
			return nil, fmt.Errorf("the checkpoint lacks tensor %s%s", prefix, name)
		}
		if len(t.Shape) != 2 || t.Shape[0] != l.Units || t.Shape[1] != l.Width {
			return nil, fmt.Errorf("tensor %s%s has shape %v, where the layers of %v units ask for [%d %d]", prefix, name, t.Shape, a.Units, l.Units, l.Width)
		}
		copy(l.Data, t.Data)
	}
	return p, nil
}

// check refuses a checkpoint that training of e has not written.
func (c *checkpoint) check(e Experiment) error {
	algorithm := e.Method.algorithm(0)
	refreshed := c.state.RefreshParameters != nil
	switch err := checkMachine(c, e); {
	case err != nil:
		return err
	case c.position.Experiment != e.Hash():
		return fmt.Errorf("the checkpoint is of another experiment than %s beside it", experimentFile)
	case len(c.state.Moments) != algorithm.Slots():
		return fmt.Errorf("the checkpoint has %d moments, the optimiser %v keeps %d", len(c.state.Moments), algorithm.Optimizer, algorithm.Slots())
	case refreshed != (algorithm.Metric != engine.Euclidean && c.state.Step > 0):
		return fmt.Errorf("the checkpoint after %d steps with metric %v has or lacks the parameters of a Fisher refresh", c.state.Step, algorithm.Metric)
	}
	return nil
}

// checkMachine refuses parameters of another machine than that of e.
func checkMachine(c *checkpoint, e Experiment) error {
	is, want := c.state.Parameters.Architecture, e.Machine.architecture(c.position.Shape)
	if !slices.Equal(is.Units, want.Units) || is.Coding != want.Coding ||
		!slices.Equal(is.Kinds, want.Kinds) || !slices.Equal(is.Convolutions, want.Convolutions) || is.Classes != want.Classes || is.HiddenClassifier != want.HiddenClassifier {
		return fmt.Errorf("the parameters are of another machine (layers of %v units, coding %v) than the experiment (%v, %v)",
			is.Units, is.Coding, want.Units, want.Coding)
	}
	return nil
}

// checkPlace refuses a checkpoint whose steps, epochs and rows do not agree with
// each other for a number of training rows.
func (c *checkpoint) checkPlace(e Experiment, rows int) error {
	at, batch := c.position, e.Method.BatchSize
	perEpoch := (rows + batch - 1) / batch
	if at.Rows > rows || at.Epoch > e.Epochs || at.Step != at.Epoch*perEpoch+(at.Rows+batch-1)/batch {
		return fmt.Errorf("the checkpoint cannot be at step %d, epoch %d and row %d of %d epochs of %d rows", at.Step, at.Epoch, at.Rows, e.Epochs, rows)
	}
	return nil
}

// temporary is the ending of files that are being written.
const temporary = ".tmp"

// writeAside writes a file so that path holds either what it held before or
// all of b, whenever the program or the machine stops.
func writeAside(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporary)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails where the rename has succeeded
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	// The new name lasts once its directory is written.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
