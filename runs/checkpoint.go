package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// checkpointFormat is the version of the checkpoints that this package writes. Version 1 has the position
// and the snapshot's header in one text, and no checksum. In versions before boundFormat, the other files
// of a run are not bound to the run.
const (
	checkpointFormat = 3
	boundFormat      = 3
)

// Keys of the metadata of checkpoints and model files.
const (
	positionKey   = "run"
	headerKey     = "model"
	experimentKey = "experiment" // in model files: the experiment, in TOML
	schemaKey     = "schema"     // in model files: schema.toml
	version1Key   = "helmholtz"
)

// checkpoint is everything that training needs to resume, and nothing else: a resumed run writes
// the same bytes as an uninterrupted one.
type checkpoint struct {
	position position
	snapshot Snapshot
}

// position is the place in training at which a checkpoint was taken.
type position struct {
	Format     int    `json:"format"`
	Experiment string `json:"experiment"` // Experiment.Hash
	Step       int    `json:"step"`       // steps done
	Epoch      int    `json:"epoch"`      // epochs done
	// Sums holds the sums of the measures over the minibatches of the current epoch so far, weighted
	// by their numbers of rows. Rows is the total number of these rows.
	Sums Measures `json:"sums"`
	Rows int      `json:"rows"`
	// Norms holds the norms after the last step of the current epoch, once that step is done.
	Norms Norms `json:"norms,omitempty"`
	// BestEpoch is the epoch with the best validation objective, or 0 if there is none. Best is that
	// objective.
	BestEpoch int     `json:"best_epoch"`
	Best      float64 `json:"best"`
	Finished  bool    `json:"finished"`
}

// save replaces a checkpoint atomically. It refuses tensors that are not finite.
func (c *checkpoint) save(dir *file.Held, name string) error {
	b, err := c.marshal()
	if err != nil {
		return err
	}
	return dir.WriteAside(name, b)
}

func (c *checkpoint) marshal() ([]byte, error) {
	if checkFinite(c.snapshot.Tensors) != nil {
		return nil, ErrDiverged
	}
	if len(c.snapshot.Header) == 0 {
		return nil, errors.New("the snapshot has no header: describe the model in JSON, at least with {}")
	}
	c.position.Format, c.position.Step = checkpointFormat, c.snapshot.Step
	text, err := json.Marshal(c.position)
	if err != nil {
		return nil, err
	}
	return marshal(c.snapshot, map[string]string{positionKey: string(text)})
}

func marshal(s Snapshot, texts map[string]string) ([]byte, error) {
	f := &safetensors.File{Metadata: texts, Tensors: s.Tensors}
	f.Metadata[headerKey] = string(s.Header)
	f.Seal()
	return safetensors.Marshal(f)
}

func loadCheckpoint(path string) (*checkpoint, error) {
	f, size, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if most, of := mostTensors(); size > most {
		return nil, fmt.Errorf("%s has %d bytes, but the memory of %s suffices for %d: read it on a larger machine, or restore it from a copy if it was smaller", path, size, of, most)
	}
	c, err := readCheckpoint(f, size)
	if err != nil {
		return nil, damaged(path, err)
	}
	switch {
	case c.position.Format == 1:
		noteUnsealed(path)
	case c.position.Format < boundFormat:
		noteUnbound(path)
	}
	return c, nil
}

// damaged returns the error for a file of a run that is not as training wrote it.
func damaged(path string, err error) error {
	return fmt.Errorf("%s: %w: restore the file from a copy, or start a new run in another directory", path, err)
}

// mostTensors returns how many bytes of tensors may be read from a file. That is half the memory, because
// reading a file needs two copies of the tensors. of names what limits the memory.
func mostTensors() (bytes int64, of string) {
	limit, of := memory.Limit()
	return limit / 2, of
}

func readCheckpoint(r io.Reader, size int64) (*checkpoint, error) {
	f, err := safetensors.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("damaged checkpoint, or not a checkpoint: %w", err)
	}
	at, header, err := positionOf(f.Metadata)
	if err != nil {
		return nil, err
	}
	if at.Format > 1 && !f.Sealed() {
		return nil, errors.New("the checkpoint lacks its checksum: it was damaged or changed")
	}
	c := &checkpoint{at, Snapshot{Step: at.Step, Header: json.RawMessage(header), Tensors: f.Tensors}}
	return c, checkFinite(f.Tensors)
}

// peekCheckpoint reads a checkpoint without its tensors.
func peekCheckpoint(path string) (*checkpoint, error) {
	f, size, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	texts, err := safetensors.ReadMetadata(f, size)
	if err != nil {
		return nil, damaged(path, err)
	}
	at, _, err := positionOf(texts)
	if err != nil {
		return nil, damaged(path, err)
	}
	return &checkpoint{position: at}, nil
}

// positionOf returns the position and the header of the snapshot from a checkpoint's metadata.
func positionOf(metadata map[string]string) (at position, header string, err error) {
	if _, model := metadata[experimentKey]; model {
		return at, "", errors.New("this is a model file, not a checkpoint")
	}
	text, current := metadata[positionKey]
	header, oldest, newest := metadata[headerKey], 2, checkpointFormat
	if !current {
		text = metadata[version1Key]
		header, oldest, newest = text, 1, 1
	}
	if text == "" || header == "" {
		return at, "", errors.New("not a checkpoint: its metadata lack the position or the header")
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return at, "", fmt.Errorf("the metadata of the checkpoint: %w", err)
	}
	if at.Format < oldest || at.Format > newest {
		return at, "", fmt.Errorf("the checkpoint has format %d, and this program reads formats up to %d", at.Format, newest)
	}
	if at.Format == 1 {
		var best struct {
			LogP float64 `json:"best_log_p"`
		}
		if err := json.Unmarshal([]byte(text), &best); err != nil {
			return at, "", fmt.Errorf("the metadata of the checkpoint: %w", err)
		}
		at.Best = best.LogP
	}
	if at.Step < 0 || at.Epoch < 0 || at.Rows < 0 {
		return at, "", fmt.Errorf("a run cannot have done %d steps, %d epochs and %d rows", at.Step, at.Epoch, at.Rows)
	}
	if at.BestEpoch < 0 || at.BestEpoch > at.Epoch {
		return at, "", fmt.Errorf("epoch %[2]d cannot be the best of a run that has done %[1]d epochs", at.Epoch, at.BestEpoch)
	}
	return at, header, nil
}

func checkFinite(tensors []Tensor) error {
	for _, t := range tensors {
		if !t.Finite() {
			return fmt.Errorf("the tensor %s has values that are not finite, which training never saves: the file was damaged or changed", t.Name)
		}
	}
	return nil
}

// checkPlace refuses a checkpoint whose steps, epochs and rows contradict each other, given the
// number of training rows.
func (c *checkpoint) checkPlace(h Header, rows int) error {
	at, perEpoch := c.position, h.StepsPerEpoch(rows)
	if at.Rows > rows || at.Step != at.Epoch*perEpoch+(at.Rows+h.BatchSize-1)/h.BatchSize || at.Norms != nil && at.Rows < rows {
		return fmt.Errorf("the checkpoint cannot be at step %d, epoch %d and row %d of %d epochs of %d rows", at.Step, at.Epoch, at.Rows, h.Epochs, rows)
	}
	return nil
}

// checkNorms returns an error if the position and the last epoch of the history both have norms, but of
// different layers.
func (p position) checkNorms(history []Epoch) error {
	if len(history) == 0 || history[len(history)-1].Norms == nil || p.Norms == nil {
		return nil
	}
	sameLayers := func(a, b []LayerNorms) bool { return len(a) == len(b) }
	if before := history[len(history)-1].Norms; !maps.EqualFunc(p.Norms, before, sameLayers) {
		return errors.New("the norms in the checkpoint do not have the same layers as the norms of the previous epoch")
	}
	return nil
}

// check refuses a position that training cannot reach on any data: an impossible epoch, a finished mark
// that is missing or wrong, or measures that the experiment does not have.
func (p position) check(h Header, measures []Measure) error {
	switch {
	case p.Epoch > h.Epochs, p.BestEpoch < 0, p.BestEpoch > p.Epoch:
		return fmt.Errorf("the checkpoint cannot be at epoch %d of %d with epoch %d as the best", p.Epoch, h.Epochs, p.BestEpoch)
	case p.Finished != p.ended(h) || p.Finished && p.Rows > 0:
		return fmt.Errorf("the checkpoint at epoch %d of %d and row %d, with epoch %d as the best and a patience of %d, cannot have finished = %v",
			p.Epoch, h.Epochs, p.Rows, p.BestEpoch, h.Patience, p.Finished)
	}
	for key, sum := range p.Sums {
		if !slices.ContainsFunc(measures, func(m Measure) bool { return m.Key == key }) || p.Rows == 0 && sum != 0 {
			return fmt.Errorf("the checkpoint has the sum %v of %q over %d rows, which training does not measure", sum, key, p.Rows)
		}
	}
	return nil
}

// ended reports whether training has ended, because all epochs are done or because of patience.
func (p position) ended(h Header) bool {
	return p.Epoch >= h.Epochs || h.Patience > 0 && p.Epoch-p.BestEpoch >= h.Patience
}

// checkExperiment returns an error if the checkpoint belongs to another experiment than e, or has a
// position that training of e cannot reach. If the checkpoint is finished and e now has more epochs, it
// becomes unfinished again.
func (c *checkpoint) checkExperiment(e Experiment) error {
	hash, h := e.Hash(), e.Header()
	if shorter := h; c.position.Finished && c.position.Epoch < h.Epochs {
		shorter.Epochs = c.position.Epoch
		if e.WithHeader(shorter).Hash() == c.position.Experiment {
			c.position.Experiment, c.position.Finished = hash, false
		}
	}
	if c.position.Experiment != hash {
		return fmt.Errorf("the checkpoint belongs to another experiment, not to the one in the file %s", experimentFile)
	}
	return c.position.check(h, e.Measures())
}

// MarshalModel returns a model file: a snapshot's header and tensors, their experiment, and a checksum.
func MarshalModel(e Experiment, s Snapshot) ([]byte, error) {
	return marshal(s, map[string]string{experimentKey: string(e.TOML())})
}

// readModel reads a file that MarshalModel or SaveModel wrote, and its texts. It refuses a file that does not fit into
// memory.
func readModel(r io.Reader) (e Experiment, s Snapshot, texts map[string]string, err error) {
	most, _ := mostTensors()
	f, err := safetensors.Read(r, most)
	if err != nil {
		return nil, s, nil, fmt.Errorf("damaged model file, or not a model file: %w", err)
	}
	text, ok := f.Metadata[experimentKey]
	if !ok {
		return nil, s, nil, errors.New("not a model file: its metadata lack the experiment; open a checkpoint by its directory")
	}
	header, current := f.Metadata[headerKey]
	if !current {
		header = f.Metadata[version1Key]
	}
	if current && !f.Sealed() {
		return nil, s, nil, errors.New("the model file lacks its checksum: it was damaged or changed")
	}
	e, err = ParseExperiment([]byte(text))
	if err != nil {
		return nil, s, nil, fmt.Errorf("the experiment of the model file: %w", err)
	}
	if err := checkFinite(f.Tensors); err != nil {
		return nil, s, nil, fmt.Errorf("the model file: %w", err)
	}
	return e, Snapshot{Header: json.RawMessage(header), Tensors: f.Tensors}, f.Metadata, nil
}
