package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// checkpointFormat is the version of the files that this package writes. Version 1
// has the position and the header of the snapshot in one text, and no checksum.
const checkpointFormat = 2

// The keys of the texts in checkpoints and model files.
const (
	positionKey   = "run"
	headerKey     = "model"
	experimentKey = "experiment" // of model files: the experiment, in TOML
	version1Key   = "helmholtz"
)

// checkpoint is all that training needs to go on where it stopped, and nothing
// else: an interrupted run that is resumed ends in the same bytes as one that
// was not.
type checkpoint struct {
	position position
	snapshot Snapshot
}

// position is where in training a checkpoint was taken.
type position struct {
	Format     int    `json:"format"`
	Experiment string `json:"experiment"` // Experiment.Hash
	Step       int    `json:"step"`       // steps done
	Epoch      int    `json:"epoch"`      // epochs done
	// Sums over the minibatches of the epoch under way, weighted by their
	// rows.
	Sums Measures `json:"sums"`
	Rows int      `json:"rows"`
	// Norms are those after the last step of the epoch under way, once that is
	// done.
	Norms Norms `json:"norms,omitempty"`
	// The epoch of the best validation measure, 0 if there is none.
	BestEpoch int     `json:"best_epoch"`
	Best      float64 `json:"best"`
	Finished  bool    `json:"finished"`
}

// save writes the checkpoint beside path and renames it, so that path holds a
// whole checkpoint at any time. It refuses tensors that are not finite.
func (c *checkpoint) save(path string) error {
	b, err := c.marshal()
	if err != nil {
		return err
	}
	return file.WriteAside(path, b)
}

// marshal returns the bytes of the checkpoint's file.
func (c *checkpoint) marshal() ([]byte, error) {
	for _, t := range c.snapshot.Tensors {
		if !t.Finite() {
			return nil, ErrDiverged
		}
	}
	if len(c.snapshot.Header) == 0 {
		return nil, errors.New("a snapshot without a header: describe the model in JSON, if only by {}")
	}
	c.position.Format, c.position.Step = checkpointFormat, c.snapshot.Step
	text, err := json.Marshal(c.position)
	if err != nil {
		return nil, err
	}
	return marshal(c.snapshot, map[string]string{positionKey: string(text)})
}

// marshal writes a snapshot with other texts.
func marshal(s Snapshot, texts map[string]string) ([]byte, error) {
	f := &safetensors.File{Metadata: texts, Tensors: s.Tensors}
	f.Metadata[headerKey] = string(s.Header)
	f.Seal()
	return safetensors.Marshal(f)
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
	if _, model := f.Metadata[experimentKey]; model {
		return nil, errors.New("a model file, not a checkpoint")
	}
	text, current := f.Metadata[positionKey]
	header, format := f.Metadata[headerKey], checkpointFormat
	if !current {
		text = f.Metadata[version1Key]
		header, format = text, 1
	}
	switch {
	case text == "" || header == "":
		return nil, errors.New("not a checkpoint: it has no metadata of one")
	case current && !f.Sealed():
		return nil, errors.New("a checkpoint without its checksum: it was damaged or changed")
	}
	c := &checkpoint{snapshot: Snapshot{Header: json.RawMessage(header), Tensors: f.Tensors}}
	if err := json.Unmarshal([]byte(text), &c.position); err != nil {
		return nil, fmt.Errorf("the metadata of the checkpoint: %w", err)
	}
	at := &c.position
	if at.Format != format {
		return nil, fmt.Errorf("checkpoint of format %d, where this version reads format %d", at.Format, format)
	}
	if format == 1 {
		var best struct {
			LogP float64 `json:"best_log_p"`
		}
		if err := json.Unmarshal([]byte(text), &best); err != nil {
			return nil, fmt.Errorf("the metadata of the checkpoint: %w", err)
		}
		at.Best = best.LogP
	}
	if at.Step < 0 || at.Epoch < 0 || at.Rows < 0 {
		return nil, fmt.Errorf("no run has done %d steps, %d epochs and %d rows", at.Step, at.Epoch, at.Rows)
	}
	if at.BestEpoch < 0 || at.BestEpoch > at.Epoch {
		return nil, fmt.Errorf("no run has done %d epochs with epoch %d the best", at.Epoch, at.BestEpoch)
	}
	for _, t := range f.Tensors {
		if !t.Finite() {
			return nil, fmt.Errorf("the tensor %s has values that are not finite", t.Name)
		}
	}
	c.snapshot.Step = at.Step
	return c, nil
}

// checkPlace refuses a checkpoint whose steps, epochs and rows do not agree with
// each other for a number of training rows, and one that is at an end without
// being finished.
func (c *checkpoint) checkPlace(h Header, rows int) error {
	at, perEpoch := c.position, h.StepsPerEpoch(rows)
	if at.Rows > rows || at.Epoch > h.Epochs || at.Step != at.Epoch*perEpoch+(at.Rows+h.BatchSize-1)/h.BatchSize ||
		at.Epoch == h.Epochs && !at.Finished {
		return fmt.Errorf("the checkpoint cannot be at step %d, epoch %d and row %d of %d epochs of %d rows", at.Step, at.Epoch, at.Rows, h.Epochs, rows)
	}
	return nil
}

// checkExperiment refuses a checkpoint of another experiment. One that had come to
// its end by fewer epochs than e now has is taken up again.
func (c *checkpoint) checkExperiment(e Experiment) error {
	hash := e.Hash()
	if c.position.Experiment == hash {
		return nil
	}
	h := e.Header()
	if c.position.Finished && c.position.Epoch < h.Epochs {
		h.Epochs = c.position.Epoch
		if e.With(h).Hash() == c.position.Experiment {
			c.position.Experiment, c.position.Finished = hash, false
			return nil
		}
	}
	return fmt.Errorf("the checkpoint is of another experiment than %s beside it", experimentFile)
}

// MarshalModel writes a model file: the tensors of a snapshot with the experiment
// they come from, and a checksum.
func MarshalModel(e Experiment, s Snapshot) ([]byte, error) {
	return marshal(s, map[string]string{experimentKey: string(e.TOML())})
}

// UnmarshalModel reads what MarshalModel wrote.
func UnmarshalModel(b []byte) (Experiment, Snapshot, error) {
	f, err := safetensors.Unmarshal(b)
	if err != nil {
		return nil, Snapshot{}, fmt.Errorf("torn or foreign model file: %w", err)
	}
	text, ok := f.Metadata[experimentKey]
	if !ok {
		return nil, Snapshot{}, errors.New("not a model file: it has no experiment in its metadata; a checkpoint is opened with its directory")
	}
	e, err := ParseExperiment([]byte(text))
	if err != nil {
		return nil, Snapshot{}, fmt.Errorf("the experiment of the model file: %w", err)
	}
	header, ok := f.Metadata[headerKey]
	if !ok {
		header = f.Metadata[version1Key]
	}
	return e, Snapshot{Header: json.RawMessage(header), Tensors: f.Tensors}, nil
}
