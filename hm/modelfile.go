package hm

import (
	"fmt"
	"io"
	"os"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// maxModelFile is the largest file that LoadModel reads.
const maxModelFile = 4 << 30

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

// LoadModel reads what Save wrote. Of a file its errors say the name.
func LoadModel(r io.Reader) (*Model, error) {
	m, err := loadModel(r)
	if file, ok := r.(*os.File); ok && err != nil {
		err = fmt.Errorf("%s: %w: restore the file from a copy, or save the model again", file.Name(), err)
	}
	return m, err
}

func loadModel(r io.Reader) (*Model, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxModelFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxModelFile {
		return nil, fmt.Errorf("a model file of more than %d bytes: no machine is that large", maxModelFile)
	}
	family, s, err := runs.UnmarshalModel(b)
	if err != nil {
		return nil, err
	}
	e, ok := family.(Experiment)
	if !ok {
		return nil, fmt.Errorf("a model of %v, not a Helmholtz machine: load it by the package of its family", family)
	}
	return newModel(e, s)
}
