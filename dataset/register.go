package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// TableFile is an uncompressed file of a table, with the settings of its Spec that a reader needs.
type TableFile struct {
	io.ReaderAt
	Size    int64
	Rules   Rules                    // by which the file is read
	Missing Codes                    // for missing values
	Skips   func(column string) bool // reports whether a column is skipped, so that its fields may have any text; nil if none is
	// Picture returns the grey levels of a PNG or JPEG picture, row by row, as fields. The size of the first picture becomes
	// the shape of rows, unless the Spec has one, and Picture refuses pictures of other sizes.
	Picture func(content []byte) (fields []string, err error)
	// Classes declares the names of classes, which the file numbers from 0 in a column. It reports whether the fields of the
	// column should be these names instead of numbers.
	Classes func(column string, names []string) bool
}

// TableReader reads a table in a format other than text. It calls row with the names of the columns, then with the fields
// of each row as text; row does not keep the slice. If row returns an error, the reader must return that error.
type TableReader func(file TableFile, row func(fields []string) error) error

var tableReaders = map[string]TableReader{} // by the first bytes of their files

// RegisterTable adds a format of tables whose files begin with magic, at most 24 bytes. A package for a format calls it
// on import. It panics if magic is empty or too long, if read is nil, or if a file could begin with the magic of two
// formats.
func RegisterTable(magic string, read TableReader) {
	if magic == "" || len(magic) > longestStart || read == nil {
		panic(fmt.Sprintf("dataset: the tables that begin with %q need a magic of 1 to %d bytes and a reader", magic, longestStart))
	}
	for other := range tableReaders {
		if strings.HasPrefix(magic, other) || strings.HasPrefix(other, magic) {
			panic(fmt.Sprintf("dataset: a table that begins with %q could also have the format that begins with %q", magic, other))
		}
	}
	tableReaders[magic] = read
}

// tableReader returns the reader for a file that begins with start, or nil.
func tableReader(start []byte) TableReader {
	for magic, read := range tableReaders {
		if hasMagic(start, magic) {
			return read
		}
	}
	return nil
}

// beginNamed begins rows whose first names the columns, as in formats other than text.
func (t *table) beginNamed() {
	t.named, t.commas, t.separator = true, false, ','
	if t.header == nil { // columns without names have numbers
		for _, c := range t.like {
			t.header = append(t.header, c.Name)
		}
	}
}

// read adds the rows of a file to the table. The file is text, or has a registered format.
func (t *table) read(r io.Reader) error {
	in := inputOf(r)
	start, _ := in.Peek(longestStart) // shorter if the file is
	read := tableReader(start)
	if read == nil && !isText(bytes.ToValidUTF8(start, nil)) {
		return fmt.Errorf("it is not a table: give a CSV or Parquet file with the columns %s", quoted(t.namesOf()))
	}
	records := read == nil && (t.rules != FirstRules || t.like != nil) && isRecords(start)
	if t.named = read != nil || records; !t.named {
		return readDelimited(in, t)
	}
	if in.at == nil && !records {
		return fmt.Errorf("a table of columns within compressed data: decompress the file")
	}
	t.beginNamed()
	line := 0
	skips := func(column string) bool { return t.kinds[strings.TrimSpace(column)].Kind.isIgnored() }
	add := func(fields []string) error {
		line++
		return t.add(fields, line)
	}
	var err error
	if t.python = "pandas.read_parquet(FILE)"; records {
		start, _ = in.Peek(1 << 10)
		if t.python = "pandas.read_json(FILE)"; linesStart.Match(start) {
			t.python = "pandas.read_json(FILE, lines=True)"
		}
		err = readRecords(in, add)
	} else {
		err = read(TableFile{in.at, in.size, t.rules, t.codes, skips, t.picture, t.classes}, add)
	}
	if err != nil {
		return err
	}
	return t.end()
}

// picture returns the grey levels of a picture as fields, and keeps its size.
func (t *table) picture(content []byte) (fields []string, err error) {
	file := bytes.NewReader(content)
	of, err := readPicture(&input{bufio.NewReader(file), file.Size(), file})
	size := fmt.Sprintf("%dx%d", of.Shape.Height, of.Shape.Width)
	switch {
	case err != nil:
		return nil, err
	case of.white != 255 || of.merged != "":
		return nil, errors.New("the picture has 16 bits, or a palette that gives different numbers the same colour")
	case t.shape != "" && size != strings.Replace(t.shape, "×", "x", 1):
		return nil, fmt.Errorf("the picture has %s pixels, but rows have the shape %s (resize it, for example with .resize((WIDTH, HEIGHT)) after convert(\"L\"))", size, t.shape)
	}
	t.shape = size
	for _, v := range of.pixels {
		fields = append(fields, strconv.Itoa(int(v>>8)))
	}
	return fields, nil
}

// classes declares the names of the classes of a column of labels, and reports whether its fields should be names. They stay
// numbers by FirstRules, and if the training rows have numbers.
func (t *table) classes(column string, names []string) bool {
	of, given := t.kinds[column]
	known := of.Values != nil || slices.ContainsFunc(t.like, func(c Column) bool { return c.Name == column && c.Values != nil })
	switch {
	case t.rules == FirstRules, len(names) > maxValues-1, given && of.Kind != LabelColumn, !given && !isLabel(column), !known && t.second():
		return false
	case !known:
		t.kinds[column] = Column{Name: column, Kind: LabelColumn, Values: names}
	}
	return true
}
