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

// checkpointFormat is the version of the files that this package writes. Version 1
// has the position and the header of the snapshot in one text, and no checksum; lines beside
// checkpoints before boundFormat are not bound to their run.
const (
	checkpointFormat = 3
	boundFormat      = 3
)

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

// save replaces a checkpoint, which is whole at any time. It refuses tensors that are
// not finite.
func (c *checkpoint) save(dir *file.Held, name string) error {
	b, err := c.marshal()
	if err != nil {
		return err
	}
	return dir.WriteAside(name, b)
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
	f, size, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if most, of := mostTensors(); size > most {
		return nil, fmt.Errorf("%s has %d bytes, of which the memory of %s holds %d: read it on a larger machine, or restore it from a copy if it was smaller", path, size, of, most)
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

// damaged is the error of a file of a run that is not as training left it.
func damaged(path string, err error) error {
	return fmt.Errorf("%s: %w: restore the file from a copy, or start a new run in another directory", path, err)
}

// mostTensors is how many bytes of tensors are read from a file. The memory there is
// has to hold them twice: as they are read, and as they are used.
func mostTensors() (bytes int64, of string) {
	limit, of := memory.Limit()
	return limit / 2, of
}

// readCheckpoint reads a checkpoint of at most size bytes.
func readCheckpoint(r io.Reader, size int64) (*checkpoint, error) {
	f, err := safetensors.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("torn or foreign checkpoint: %w", err)
	}
	at, header, err := positionOf(f.Metadata)
	if err != nil {
		return nil, err
	}
	if at.Format > 1 && !f.Sealed() {
		return nil, errors.New("a checkpoint without its checksum: it was damaged or changed")
	}
	c := &checkpoint{at, Snapshot{Step: at.Step, Header: json.RawMessage(header), Tensors: f.Tensors}}
	return c, checkFinite(f.Tensors)
}

// readPosition reads the place in training of a checkpoint, by its metadata alone.
func readPosition(path string) (position, error) {
	f, size, err := file.Open(path)
	if err != nil {
		return position{}, err
	}
	defer f.Close()
	texts, err := safetensors.ReadMetadata(f, size)
	if err != nil {
		return position{}, damaged(path, err)
	}
	at, _, err := positionOf(texts)
	if err != nil {
		return position{}, damaged(path, err)
	}
	return at, nil
}

// positionOf is the place that the metadata of a checkpoint give, with the header of its snapshot.
func positionOf(metadata map[string]string) (at position, header string, err error) {
	if _, model := metadata[experimentKey]; model {
		return at, "", errors.New("a model file, not a checkpoint")
	}
	text, current := metadata[positionKey]
	header, oldest, newest := metadata[headerKey], 2, checkpointFormat
	if !current {
		text = metadata[version1Key]
		header, oldest, newest = text, 1, 1
	}
	if text == "" || header == "" {
		return at, "", errors.New("not a checkpoint: it has no metadata of one")
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return at, "", fmt.Errorf("the metadata of the checkpoint: %w", err)
	}
	if at.Format < oldest || at.Format > newest {
		return at, "", fmt.Errorf("checkpoint of format %d, where this program reads formats up to %d", at.Format, newest)
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
		return at, "", fmt.Errorf("no run has done %d steps, %d epochs and %d rows", at.Step, at.Epoch, at.Rows)
	}
	if at.BestEpoch < 0 || at.BestEpoch > at.Epoch {
		return at, "", fmt.Errorf("no run has done %d epochs with epoch %d the best", at.Epoch, at.BestEpoch)
	}
	return at, header, nil
}

func checkFinite(tensors []Tensor) error {
	for _, t := range tensors {
		if !t.Finite() {
			return fmt.Errorf("the tensor %s has values that are not finite, which training does not save: the file was damaged or changed", t.Name)
		}
	}
	return nil
}

// checkPlace refuses a checkpoint whose steps, epochs and rows do not agree with
// each other for a number of training rows.
func (c *checkpoint) checkPlace(h Header, rows int) error {
	at, perEpoch := c.position, h.StepsPerEpoch(rows)
	if at.Rows > rows || at.Step != at.Epoch*perEpoch+(at.Rows+h.BatchSize-1)/h.BatchSize || at.Norms != nil && at.Rows < rows {
		return fmt.Errorf("the checkpoint cannot be at step %d, epoch %d and row %d of %d epochs of %d rows", at.Step, at.Epoch, at.Rows, h.Epochs, rows)
	}
	return nil
}

// checkNorms refuses norms of other layers than those of the epoch before, where both
// have some.
func (p position) checkNorms(history []Epoch) error {
	if len(history) == 0 || history[len(history)-1].Norms == nil || p.Norms == nil {
		return nil
	}
	sameLayers := func(a, b []LayerNorms) bool { return len(a) == len(b) }
	if before := history[len(history)-1].Norms; !maps.EqualFunc(p.Norms, before, sameLayers) {
		return errors.New("the checkpoint has norms of other layers than the epoch before it")
	}
	return nil
}

// check refuses a place that training does not come to, whatever the data: one at an
// end that is not finished or the other way round, and one with measures that the
// experiment does not have.
func (p position) check(h Header, measures []Measure) error {
	switch {
	case p.Epoch > h.Epochs, p.BestEpoch < 0, p.BestEpoch > p.Epoch:
		return fmt.Errorf("the checkpoint cannot be at epoch %d of %d, epoch %d being the best", p.Epoch, h.Epochs, p.BestEpoch)
	case p.Finished != p.ended(h) || p.Finished && p.Rows > 0:
		return fmt.Errorf("the checkpoint at epoch %d of %d and row %d, epoch %d being the best and the patience %d, cannot have finished = %v",
			p.Epoch, h.Epochs, p.Rows, p.BestEpoch, h.Patience, p.Finished)
	}
	for key, sum := range p.Sums {
		if !slices.ContainsFunc(measures, func(m Measure) bool { return m.Key == key }) || p.Rows == 0 && sum != 0 {
			return fmt.Errorf("the checkpoint has the sum %v of %q over %d rows, which training does not measure", sum, key, p.Rows)
		}
	}
	return nil
}

// ended says whether training has come to its end, by its epochs or by patience.
func (p position) ended(h Header) bool {
	return p.Epoch >= h.Epochs || h.Patience > 0 && p.Epoch-p.BestEpoch >= h.Patience
}

// checkExperiment refuses a checkpoint of another experiment, or of a place that its
// training does not come to. One that had come to its end by fewer epochs than e now
// has is taken up again.
func (c *checkpoint) checkExperiment(e Experiment) error {
	hash, h := e.Hash(), e.Header()
	if shorter := h; c.position.Finished && c.position.Epoch < h.Epochs {
		shorter.Epochs = c.position.Epoch
		if e.WithHeader(shorter).Hash() == c.position.Experiment {
			c.position.Experiment, c.position.Finished = hash, false
		}
	}
	if c.position.Experiment != hash {
		return fmt.Errorf("the checkpoint is of another experiment than %s beside it", experimentFile)
	}
	return c.position.check(h, e.Measures())
}

// MarshalModel writes a model file: the tensors of a snapshot with the experiment
// they come from, and a checksum.
func MarshalModel(e Experiment, s Snapshot) ([]byte, error) {
	return marshal(s, map[string]string{experimentKey: string(e.TOML())})
}

// ReadModel reads what MarshalModel wrote. It refuses what memory does not hold.
func ReadModel(r io.Reader) (Experiment, Snapshot, error) {
	most, _ := mostTensors()
	f, err := safetensors.Read(r, most)
	if err != nil {
		return nil, Snapshot{}, fmt.Errorf("torn or foreign model file: %w", err)
	}
	text, ok := f.Metadata[experimentKey]
	if !ok {
		return nil, Snapshot{}, errors.New("not a model file: it has no experiment in its metadata; a checkpoint is opened with its directory")
	}
	header, current := f.Metadata[headerKey]
	if !current {
		header = f.Metadata[version1Key]
	}
	if current && !f.Sealed() {
		return nil, Snapshot{}, errors.New("a model file without its checksum: it was damaged or changed")
	}
	e, err := ParseExperiment([]byte(text))
	if err != nil {
		return nil, Snapshot{}, fmt.Errorf("the experiment of the model file: %w", err)
	}
	if err := checkFinite(f.Tensors); err != nil {
		return nil, Snapshot{}, fmt.Errorf("the model file: %w", err)
	}
	return e, Snapshot{Header: json.RawMessage(header), Tensors: f.Tensors}, nil
}
