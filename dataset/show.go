package dataset

import (
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// mostShown is the largest number of columns, and of classes, that Description lists.
const mostShown = 40

// Show prints the Description of the set. To draw some of its rows, pass a Sheet of them to plotting.Samples.
func (s *Set) Show() { fmt.Print(s.Description()) }

// Description returns lines that describe the set: its rows, their shape, the type and the range of their
// values, the share of ones, the classes, the columns of a table, and the Notice.
func (s *Set) Description() string {
	var b strings.Builder
	fmt.Fprintln(&b, s)
	kind := "grey levels"
	switch {
	case s.train.AreReal():
		kind = "real numbers"
	case s.spins:
		kind = "spins of -1 and 1, which are 0 and 1 here"
	case !s.train.AreGrey():
		kind = "bits"
	}
	fmt.Fprintf(&b, "type: %s (binarization %v)\n", kind, s.spec.Binarization)
	switch {
	case s.logs() != nil:
		fmt.Fprintf(&b, "units hold logarithms or standardised numbers: log p of the file's numbers is lower by %.4f nats, on average over the training rows\n", s.LogScale())
	case s.scalings != nil:
		fmt.Fprintf(&b, "standardised by the training rows: log p of the file's numbers is lower by %.4f nats\n", s.LogScale())
	}
	if n := s.Classes(); n > 0 {
		fmt.Fprintf(&b, "classes: %d", n)
		if len(s.classes) > 0 {
			fmt.Fprintf(&b, " (%s)", listed(s.classes))
		}
		var counts []string
		labels := 0
		for _, rows := range perClass(s.train.Labels, n) {
			counts, labels = append(counts, fmt.Sprint(rows)), labels+rows
		}
		fmt.Fprintf(&b, ", with %s of training rows: %s\n", names.Count(labels, "label"), listed(counts))
	} else {
		fmt.Fprintln(&b, "classes: none")
	}
	if s.Classes() > 0 && s.firstClass() == 1 {
		fmt.Fprintln(&b, "the labels begin at 1, and classes are numbered from 0: shift them by --first-label 1")
	}
	if areNumbered(s.columns) {
		fmt.Fprintln(&b, "the file has no header: its first line is a row, and columns have numbers")
	}
	for i, c := range s.columns {
		if i == mostShown {
			fmt.Fprintf(&b, "and %s more\n", names.Count(len(s.columns)-i, "column"))
			break
		}
		fmt.Fprintf(&b, "column %v%s%s\n", c, c.about(), s.rare(c))
	}
	if notice := names.Lines(s.Notice(), s.ScaleNotice()); notice != "" {
		fmt.Fprintln(&b, notice)
	}
	side := int(math.Round(math.Sqrt(float64(s.Shape().Units()))))
	if s.Shape().Height == 1 && side > 3 && side*side == s.Shape().Units() && s.spec.IsFile() && (&rows{columns: s.columns}).named() == nil {
		fmt.Fprintf(&b, "rows of %d values may be images of %d×%[2]d: if so, add --shape %[2]dx%[2]d\n", side*side, side)
	}
	return b.String()
}

// about describes the numbers of a real column.
func (c Column) about() (text string) {
	if n := c.Numbers; n != nil {
		text = fmt.Sprintf("; from %v to %v, mean %.4g, sd %.3g", n.Least, n.Greatest, n.Mean, n.SD)
	}
	if c.Log {
		text += "; by their logarithms"
	}
	return text
}

// fewRows is the number of training rows below which Description calls a category rare.
const fewRows = 5

// rare names the categories of a column that few training rows have.
func (s *Set) rare(c Column) string {
	if c.Kind != CategoricalColumn {
		return ""
	}
	var values []string
	for k, value := range c.Values {
		rows := 0.0
		for r := range s.train.Rows {
			if i := r*s.Shape().Units() + c.First + k; !s.train.IsMissing(i) {
				rows += s.train.At(i)
			}
		}
		if rows < fewRows {
			values = append(values, value)
		}
	}
	if values == nil {
		return ""
	}
	return fmt.Sprintf("; fewer than %d training rows have %s", fewRows, quoted(values))
}

// quoted lists names of columns in quotes, or the first eight and the number of all names.
func quoted(names []string) string {
	var parts []string
	for i, name := range names {
		if i == 8 {
			parts = append(parts, fmt.Sprintf("… (%d in all)", len(names)))
			break
		}
		parts = append(parts, fmt.Sprintf("%.40q", name))
	}
	return strings.Join(parts, ", ")
}

func listed(texts []string) string {
	if len(texts) > mostShown {
		texts = append(texts[:mostShown:mostShown], "…")
	}
	return strings.Join(texts, ", ")
}

// Sheet returns the first n rows as images, or all rows if there are fewer. Missing values are grey. Real numbers are scaled so that
// the least number of the split becomes 0 and the largest becomes 1.
func (s Split) Sheet(n int) Sheet {
	sheet := Sheet{Shape: s.Shape}
	least, most := 0.0, 1.0
	if s.AreReal() {
		least, most = math.Inf(1), math.Inf(-1)
		for i := range s.Reals() {
			least, most = min(least, s.At(i)), max(most, s.At(i))
		}
	}
	for i := range min(n, s.Rows) {
		row := s.Floats(i)[0]
		for j, v := range row {
			if row[j] = 0.5; most > least && !s.IsMissing(i*len(row)+j) {
				row[j] = (v - least) / (most - least)
			}
		}
		sheet.Values = append(sheet.Values, row)
	}
	return sheet
}

// CheckPixels refuses a set made from a user's table, whose units are not pixels.
func (s *Set) CheckPixels() error {
	if s.columns == nil || s.spec.isNamed() {
		return nil
	}
	return fmt.Errorf("the rows of %s come from a table with %s, and a figure of images needs pixels: if they are pixels, give the shape of the images when you open the file, such as shape = \"28x28\" (--shape)",
		s.Name(), names.Count(len(s.columns), "column"))
}
