package hm

import (
	"io"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Save writes the model as a checkpoint does, in safetensors format with the
// tensors generative.I and recognition.I, but without what only training needs;
// the experiment lies beside the parameters, as TOML in the metadata.
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

// LoadModel reads what Save or SaveModel of a run wrote. Of a file its errors say the name.
func LoadModel(r io.Reader) (*Model, error) { return kind.LoadModel(r) }
