package hm

import (
	"errors"
	"io"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Save writes the model in safetensors format, with the tensors generative.N and recognition.N of a checkpoint
// (runs/FORMAT.md), but without the state that only training needs. The metadata contains the experiment as TOML.
func (m *Model) Save(w io.Writer) error {
	if m.parameters == nil {
		return errors.New("the model is empty: use the model of a run or of a file")
	}
	s, err := newSnapshot(&engine.State{Parameters: m.parameters}, m.shape)
	if err != nil {
		return err
	}
	b, err := runs.MarshalModel(m.experiment, s)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// LoadModel reads a file written by Save, or by SaveModel of a run. It returns an error if the file is damaged or
// contains a model of another family. If r is an *os.File, the error names the file.
func LoadModel(r io.Reader) (*Model, error) { return kind.LoadModel(r) }
