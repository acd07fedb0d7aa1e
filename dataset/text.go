package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// readText reads text of 0 and 1 with one row per line and values separated by spaces or commas. Empty lines are skipped
// unless rows have one value. Errors name the line.
func readText(r io.Reader) (rows, error) {
	in := lines{Reader: bufio.NewReaderSize(r, 1<<16)}
	var values []uint8
	width, empty, room := 0, false, firstBytes // values of a row, whether an empty line follows rows of one value, and number of values for which there is memory
	for {
		text, err := in.next()
		if err == io.EOF {
			break
		}
		before := len(values)
		if err == nil {
			values, err = appendBits(values, text)
		}
		n := len(values) - before
		switch {
		case err != nil:
		case n == 0:
			empty = width == 1
		case empty:
			err = fmt.Errorf("it follows an empty line; %w", errNotBits)
		case width > 0 && n != width:
			err = fmt.Errorf("%d values, but the first row has %d", n, width)
		case len(values) > room:
			room *= 2
			err = checkRoom(int64(in.number), int64(room), bytesEach)
		}
		if err != nil {
			return rows{}, fmt.Errorf("line %d: %w", in.number, err)
		}
		width = max(width, n)
	}
	if len(values) == 0 {
		return rows{}, errors.New("the file has no rows")
	}
	read := bytesOf(Shape{1, width}, values, nil)
	read.scaled = true
	for column := range width {
		read.unnamed = append(read.unnamed, strconv.Itoa(column+1))
	}
	return read, nil
}

// appendBits appends the values of a line, 0 or 255. A comma and a tab stand between two values.
func appendBits(values []uint8, line string) ([]uint8, error) {
	first, value, comma, tab := len(values), false, false, false // whether the last byte was a value, and which separators wait for one
	for i := range len(line) {
		b, begun := line[i], len(values) > first
		switch {
		case (b == '0' || b == '1') && !value:
			values, value, comma, tab = append(values, 255*(b-'0')), true, false, false
		case b == ' ':
			value = false
		case b == '\t' && begun && !tab:
			value, tab = false, true
		case b == ',' && begun && !comma:
			value, comma = false, true
		default:
			return values, fmt.Errorf("%q after %d values; %w", b, len(values)-first, errNotBits)
		}
	}
	if comma || tab {
		return values, fmt.Errorf("no value after the last separator, after %d values; %w", len(values)-first, errNotBits)
	}
	return values, nil
}
