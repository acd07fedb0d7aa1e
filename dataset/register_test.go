package dataset

import (
	"io"
	"testing"
)

func TestFormatsOfTablesAreRegisteredOnce(t *testing.T) {
	const magic = "table of a test"
	read := func(io.ReaderAt, int64, func([]string) error) error { return nil }
	RegisterTable(magic, read)
	defer delete(tableReaders, magic)
	defer func() {
		if recover() == nil {
			t.Error("the same magic was registered twice")
		}
	}()
	RegisterTable(magic, read)
}
