package pretrained

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// SetCatalogue replaces the embedded catalogue for a test.
func SetCatalogue(t *testing.T, text []byte) {
	was := catalogue
	catalogue = text
	t.Cleanup(func() { catalogue = was })
}

// Embedded returns the embedded catalogue.
func Embedded() []byte { return catalogue }

// CatalogueOf returns the catalogue of the machines in a folder, in the form that the program
// embeds. It returns an error if there is no such folder.
func CatalogueOf(folder string) ([]byte, error) {
	entries, err := os.ReadDir(folder) // sorted
	if err != nil {
		return nil, fmt.Errorf("cannot look for machines: %w: name a folder", err)
	}
	all := []Published{}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name(), cardFile)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		text, err := file.Read(path, mostCard)
		if err != nil {
			return nil, err
		}
		var card Card
		if err := json.Unmarshal(text, &card); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		p := Published{Card: card, Sum: sum(text), Bytes: int64(len(text))}
		for name := range card.Files {
			info, err := os.Stat(filepath.Join(filepath.Dir(path), name))
			if err != nil {
				return nil, err
			}
			p.Bytes += info.Size()
		}
		all = append(all, p)
	}
	text, err := json.MarshalIndent(all, "", "\t")
	return append(text, '\n'), err
}
