package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
)

// longestSchema is the largest schema in bytes, of some 10⁵ columns.
const longestSchema = 1 << 25

// Blank returns the data set of the run without its rows, from schema.toml. It reads rows of other files, and writes
// samples, without the files of the data. Blank returns Dataset if a program made the data from rows, or if an earlier
// version trained the run, whose directory has no schema.
func (r *Run) Blank() (*dataset.Set, error) {
	path := filepath.Join(r.dir, schemaFile)
	text, err := file.Read(path, longestSchema)
	if errors.Is(err, os.ErrNotExist) {
		return r.Dataset()
	}
	if err != nil {
		return nil, err
	}
	set, err := blank(text, r.experiment.Header())
	if err != nil {
		return nil, fmt.Errorf("%w: restore the file from a copy, or remove it and put the data back", damaged(path, err))
	}
	return set, nil
}

// blank returns the set without rows that the text of a schema describes.
func blank(text []byte, h Header) (*dataset.Set, error) {
	if sealed, err := verifyText(text); err != nil || !sealed {
		return nil, cmp.Or(err, errors.New("it has no checksum: the file was damaged"))
	}
	of, err := dataset.ParseSchema(text)
	if err == nil && of.Fingerprint != h.Fingerprint {
		err = fmt.Errorf("it describes data with fingerprint %.12s, but the run has data with %.12s", of.Fingerprint, h.Fingerprint)
	}
	if err != nil {
		return nil, err
	}
	return of.Blank(h.Dataset)
}

// BlankOfModel returns the data set without rows of a model file that Run.SaveModel wrote, as Run.Blank does. It refuses a
// file of an earlier version, which has no schema, and of a run on rows that a program made.
func BlankOfModel(r io.Reader) (*dataset.Set, error) {
	e, _, texts, err := readModel(r)
	switch {
	case err != nil:
		return nil, err
	case texts[schemaKey] == "":
		return nil, errors.New("the model file has no schema of its data: save the model of a newer run on a file or a named set")
	}
	return blank([]byte(texts[schemaKey]), e.Header())
}
