package dataset

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// readText reads text of 0 and 1 with one row per line and values separated by spaces or commas. A line ends with
// a line feed, a carriage return, or both. Empty lines are skipped unless rows have one value. Errors name the line.
func readText(r io.Reader) (rows, error) {
	p := textParser{line: 1}
	buffer := make([]byte, 1<<16)
	room := firstBytes // number of values for which there is memory
	for {
		n, err := r.Read(buffer)
		for _, b := range buffer[:n] {
			if err := p.next(b); err != nil {
				return rows{}, fmt.Errorf("line %d: %w", p.line, err)
			}
		}
		if len(p.values) > room {
			room *= 2
			if err := checkRoom(int64(p.line), int64(room), bytesEach); err != nil {
				return rows{}, fmt.Errorf("line %d: %w", p.line, err)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return rows{}, err
		}
	}
	if err := p.endRow(); err != nil {
		return rows{}, fmt.Errorf("line %d: %w", p.line, err)
	}
	if len(p.values) == 0 {
		return rows{}, errors.New("the file has no rows")
	}
	read := bytesOf(Shape{1, p.width}, p.values, nil)
	read.scaled = true
	for column := range p.width {
		read.unnamed = append(read.unnamed, strconv.Itoa(column+1))
	}
	return read, nil
}

type textParser struct {
	values []uint8
	line   int
	width  int  // values of the first row
	column int  // values of this row so far
	value  bool // the last byte was a value
	comma  bool // a comma waits for its value
	tab    bool // a tab waits for its value
	empty  bool // an empty line follows a row of one value
	cr     bool // the last byte was a carriage return, which ended a line
}

func (p *textParser) next(b byte) error {
	cr := p.cr
	p.cr = b == '\r'
	switch b {
	case '0', '1':
		if p.empty {
			return fmt.Errorf("it follows an empty line; %w", errNotBits)
		}
		if p.value {
			return fmt.Errorf("value %d is longer than one digit; %w", p.column, errNotBits)
		}
		p.values = append(p.values, 255*(b-'0'))
		p.column++
		p.value, p.comma, p.tab = true, false, false
	case '\t':
		if p.tab || p.column == 0 {
			return fmt.Errorf("no value before a tab, after %d values; %w", p.column, errNotBits)
		}
		p.value, p.tab = false, true
	case ' ':
		p.value = false
	case ',':
		if p.comma || p.column == 0 {
			return fmt.Errorf("no value before a comma, after %d values; %w", p.column, errNotBits)
		}
		p.value, p.comma = false, true
	case '\r', '\n':
		if b == '\n' && cr {
			return nil
		}
		if err := p.endRow(); err != nil {
			return err
		}
		p.line++
	default:
		return fmt.Errorf("%q after %d values; %w", b, p.column, errNotBits)
	}
	return nil
}

func (p *textParser) endRow() error {
	if p.comma {
		return fmt.Errorf("no value after the last comma, after %d values; %w", p.column, errNotBits)
	}
	if p.tab {
		return fmt.Errorf("no value after the last tab, after %d values; %w", p.column, errNotBits)
	}
	p.empty = p.empty || p.column == 0 && p.width == 1
	if p.width == 0 {
		p.width = p.column
	}
	if p.column != 0 && p.column != p.width {
		return fmt.Errorf("%d values, but the first row has %d", p.column, p.width)
	}
	p.column, p.value = 0, false
	return nil
}
