package dataset

import (
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Text is read as package csv reads it, whatever ends its lines, quotes and comments included.
func TestTextIsReadAsCSV(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"a", "1", ",", ",", " ", "\"", "\"", "\"\"", "\",\"", "\n", "#", "0.5"}
	for range 4_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		reader := csv.NewReader(strings.NewReader(text))
		reader.Comment, reader.FieldsPerRecord, reader.TrimLeadingSpace = '#', -1, true
		var want [][]string
		var failure error
		for {
			record, err := reader.Read()
			if failure = err; err != nil {
				break
			}
			for i := range record {
				record[i] = strings.TrimSpace(record[i])
			}
			want = append(want, record)
		}
		for _, end := range []string{"\n", "\r\n", "\r"} {
			var got [][]string
			in := &lines{Reader: inputOf(strings.NewReader(strings.ReplaceAll(text, "\n", end))).Reader}
			err := error(nil)
			for err == nil {
				var line string
				if line, err = in.next(); err != nil || line == "" || line[0] == '#' {
					continue
				}
				var record []string
				if record, err = in.fields(nil, line, ','); err == nil {
					for i := range record {
						record[i] = strings.TrimSpace(record[i])
					}
					got = append(got, record)
				}
			}
			if !errors.Is(failure, err) || (err == io.EOF) != (failure == io.EOF) || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Fatalf("%q is %q with the error %v, want %q with %v", text, got, err, want, failure)
			}
		}
	}
}
