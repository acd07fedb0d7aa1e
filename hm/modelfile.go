package hm

import (
	"io"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Save writes the model like a checkpoint, in safetensors format with the tensors generative.I and
// recognition.I, but without the state that only training needs. The metadata contain the
// experiment as TOML.
func (m *Model) Save(w io.Writer) error {
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

// LoadModel reads a file written by Save, or by SaveModel of a run. If r is a file, errors contain
// its name.
func LoadModel(r io.Reader) (*Model, error) { return kind.LoadModel(r) }
