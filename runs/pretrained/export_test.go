package pretrained

import "testing"

// SetCatalogue replaces the embedded catalogue for a test.
func SetCatalogue(t *testing.T, text []byte) {
	was := catalogue
	catalogue = text
	t.Cleanup(func() { catalogue = was })
}

// Embedded returns the embedded catalogue.
func Embedded() []byte { return catalogue }
