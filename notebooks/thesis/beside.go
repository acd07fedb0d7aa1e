package thesis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// Row is a line of a table of published numbers and numbers measured here.
type Row struct {
	Says   string // what is measured, with its unit
	ID     string // the result in the catalogue, such as varady/table5.1, or empty if nothing is published
	Number string // the published number, such as "RWS, log p", or empty if the result only makes claims
	Here   string // the number measured here, or empty
}

// mostRows is the number of rows that a reader takes in at a glance.
const mostRows = 8

// Beside returns a table of at most eight rows, with the titles and sources of the published results below it, and the
// claims of a result without a number. A row without numbers shows these alone.
func Beside(rows ...Row) (string, error) {
	if len(rows) == 0 || len(rows) > mostRows {
		return "", fmt.Errorf("%d rows: a table of published and measured numbers has 1 to %d", len(rows), mostRows)
	}
	all, err := Catalog()
	if err != nil {
		return "", err
	}
	var sources strings.Builder
	var ids []string
	var table string
	for _, row := range rows {
		published, mark := "", ""
		if row.ID != "" {
			of, err := all.Select(row.ID)
			if err != nil {
				return "", err
			}
			if !slices.Contains(ids, row.ID) {
				ids = append(ids, row.ID)
				fmt.Fprintf(&sources, "[%d] %s (%s)\n", len(ids), of[0].Title, of[0].Place)
				for _, c := range of[0].Claims {
					if row.Number == "" {
						fmt.Fprintf(&sources, "    claims: %s\n", cmp.Or(c.Broader, c.Says))
					}
				}
			}
			if row.Number != "" {
				i := slices.IndexFunc(of[0].Numbers, func(n reproduce.Number) bool { return n.Of+", "+n.Measure == row.Number })
				if i < 0 {
					return "", fmt.Errorf("%s has no number %q: criteria.toml lists its numbers, as of and measure", row.ID, row.Number)
				}
				published = fmt.Sprintf("%g", of[0].Numbers[i].Published)
			}
			mark = fmt.Sprintf(" [%d]", slices.Index(ids, row.ID)+1)
		}
		if published != "" || row.Here != "" {
			table += fmt.Sprintf("%9s  %10s   %s%s\n", published, row.Here, row.Says, mark)
		}
	}
	if table != "" {
		table = "published        here\n" + table + "\n"
	}
	return table + sources.String(), nil
}
