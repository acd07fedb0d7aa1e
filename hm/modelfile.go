package hm

import (
	"errors"
	"fmt"
	"io"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// modelMetadata is the key of the experiment in a model file.
const modelMetadata = "experiment"

// maxModelFile is the largest file that LoadModel reads.
const maxModelFile = 4 << 30

// Save writes the model as a checkpoint does, in safetensors format with the
// tensors generative.I and recognition.I, but without what only training needs;
// the experiment lies beside the parameters, as TOML in the metadata.
func (m *Model) Save(w io.Writer) error {
	c := &checkpoint{
		state:    &engine.State{Parameters: m.parameters},
		position: position{Experiment: m.experiment.Hash(), Shape: m.shape},
	}
	f, err := c.file()
	if err != nil {
		return err
	}
	f.Metadata[modelMetadata] = string(m.experiment.TOML())
	b, err := safetensors.Marshal(f)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// LoadModel reads what Save wrote.
func LoadModel(r io.Reader) (*Model, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxModelFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxModelFile {
		return nil, fmt.Errorf("a model file of more than %d bytes: no machine is that large", maxModelFile)
	}
	f, err := safetensors.Unmarshal(b)
	if err != nil {
		return nil, fmt.Errorf("torn or foreign model file: %w", err)
	}
	text, ok := f.Metadata[modelMetadata]
	if !ok {
		return nil, errors.New("not a model file: it has no experiment in its metadata; a checkpoint is opened with its directory, by OpenRun")
	}
	e, err := ParseExperiment([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the experiment of the model file: %w", err)
	}
	c, err := checkpointOf(f)
	if err != nil {
		return nil, err
	}
	if err := checkMachine(c, e); err != nil {
		return nil, err
	}
	return newModel(e, c), nil
}
