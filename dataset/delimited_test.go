package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// A file that is read in several parts has the same values as in one: lines end anywhere in a part, and one of them between
// its carriage return and its line feed.
func TestPartsOfLongTables(t *testing.T) {
	const rows, length = 10_000, 65
	if textBytes%length != length-1 || rows*4 < batchFields {
		t.Fatal("no part ends between carriage return and line feed, or no batch is full")
	}
	text := []byte(fmt.Sprintf("%-*s\r\n", length-2, "x,w,n,y"))
	at := func(r int) (x float64, word string, y int) {
		return math.Sin(float64(r)), []string{"a\nb", "cc,"}[r*r%7%2], r * r % 1009
	}
	for r := range rows {
		x, word, y := at(r)
		line := fmt.Sprintf("%v,%q,%d,%d", x, "", r%300, y)
		line = strings.Replace(line, `""`, `"`+word+`"`, 1)
		text = fmt.Appendf(text, "%-*s\r\n", length-2, line)
	}
	path := filepath.Join(t.TempDir(), "long.csv")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	none := 0
	set, err := Spec{Name: path, Binarization: Real, Columns: "n=real", Validation: &none}.Open()
	if err != nil {
		t.Fatal(err)
	}
	read, err := set.ReadRows(path)
	if err != nil {
		t.Fatal(err)
	}
	if read.Rows != rows || read.Units != 4 {
		t.Fatalf("%d rows of %d units", read.Rows, read.Units)
	}
	for r := range rows {
		x, word, y := at(r)
		kind := 0.0
		if word == "cc," {
			kind = 1
		}
		for k, want := range []float64{x, kind, float64(r % 300), float64(y)} {
			if got := read.At(4*r + k); got != float64(float32(want)) {
				t.Fatalf("row %d, unit %d: %v, not %v", r, k, got, want)
			}
		}
	}
}

// A text of the training file is looked at again in a second file with another separator, in which it may be another number, and
// an empty field is no digits.
func TestTextsMayMeanOtherNumbersInASecondFile(t *testing.T) {
	train := written(t, "train.csv", "a,b\n0.5,1\n1.5,2\n2.5,3\n0.5,4\n")
	_, err := Spec{Name: train, Test: written(t, "test.csv", "a;b\n0.5;1\n2,75;2\n"), Binarization: Real}.Open()
	wantError(t, err, "some numbers have a point", "and some a comma")
	_, err = Spec{Name: written(t, "blank.csv", "a,b\n,1\n01,2\n,3\n10,4\n"), Header: "yes", Gaps: true, Binarization: Real}.Open()
	wantError(t, err, `column "a" has numbers that begin with 0`)
}
