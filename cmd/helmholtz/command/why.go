package command

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// mostRanked is the number of training rows among which rows have their ranks.
const mostRanked = 10_000

// ranks returns the share of the training rows that are less probable than each row. Equal log p counts half.
func (x *estimate) ranks(c *cobra.Command, run *runs.Run, by runs.RowEvaluator, o runs.EvaluationOptions, logP []float64) ([]float64, error) {
	var err error
	if o.Set, err = run.DatasetAt(x.data); err != nil {
		return nil, fmt.Errorf("--rank compares rows with the training rows: %w; if the data have moved, name their path with --dataset", err)
	}
	o.Rows = o.Set.Train().Subset(mostRanked, x.seed)
	fmt.Fprintf(c.ErrOrStderr(), "ranks among %s\n", names.Count(o.Rows.Rows, "training row"))
	among, _, err := by.LogPOfRows(c.Context(), o)
	if err != nil {
		return nil, err
	}
	shares, all := o.Rows.Counts(), make([]float64, len(logP))
	total := 0.0
	for k, other := range among {
		total += shares[k]
		for r, v := range logP {
			switch {
			case other < v:
				all[r] += shares[k]
			case other == v:
				all[r] += shares[k] / 2
			}
		}
	}
	for r := range all {
		all[r] /= total
	}
	return all, nil
}

// identified inserts the identifiers of a file behind the first of some columns, and returns their cells, a line for each row.
func identified(set *dataset.Set, path string, columns []runs.Column) ([]runs.Column, [][][]any, error) {
	is := func(c dataset.Column) bool { return c.Kind == dataset.IdentifierColumn }
	if !slices.ContainsFunc(set.Schema().Columns, is) {
		return columns, nil, nil
	}
	gaps, err := set.ReadGaps(path)
	if err != nil {
		return nil, nil, err
	}
	fields, err := gaps.Complete(dataset.Sheet{Shape: gaps.Rows.Shape, Values: gaps.Rows.Floats()}, dataset.Writing{}, false)
	if err != nil {
		return nil, nil, err
	}
	var added []runs.Column
	cells := make([][][]any, len(fields))
	for r := range cells {
		cells[r] = [][]any{nil}
	}
	for k, c := range gaps.Columns {
		if !is(c) {
			continue
		}
		key := c.Name
		for slices.ContainsFunc(columns, func(other runs.Column) bool { return other.Key == key }) || slices.ContainsFunc(reasonColumns, func(other runs.Column) bool { return other.Key == key }) {
			key = "file_" + key
		}
		added = append(added, runs.Column{Key: key})
		for r := range cells {
			cells[r][0] = append(cells[r][0], fields[r][k])
		}
	}
	return slices.Insert(columns, 1, added...), cells, nil
}

// explain adds to s the ranks of rows, the identifiers of the file and reasons, as the flags ask for them. It describes how the reasons
// were computed.
func (x *estimate) explain(c *cobra.Command, run *runs.Run, model any, o runs.EvaluationOptions, s *scores) (what string, err error) {
	if x.file == "-" {
		return "", misuse(c, "--why and --rank read the rows twice: save standard input to a file, and give it with --rows FILE")
	}
	var rank []float64
	if x.rank {
		if rank, err = x.ranks(c, run, model.(runs.RowEvaluator), o, s.logP); err != nil {
			return "", err
		}
		s.columns = append(s.columns, runs.Column{Key: "rank", Kind: runs.Number, Decimals: 4})
	}
	var ids, reasons [][][]any // the cells of each row, and of each of its columns
	if s.columns, ids, err = identified(o.Set, x.file, s.columns); err != nil {
		return "", err
	}
	if x.why {
		if s.columns, reasons, what, err = explain(c.Context(), run, model, o, s.columns); err != nil {
			return "", err
		}
	}
	lines := s.lines
	s.lines = nil
	for r, cells := range lines {
		if rank != nil {
			cells = append(cells, rank[r])
		}
		if ids != nil {
			cells = slices.Insert(cells, 1, ids[r][0]...)
		}
		if reasons == nil {
			s.lines = append(s.lines, cells)
			continue
		}
		for _, reason := range reasons[r] {
			s.lines = append(s.lines, slices.Concat(cells, reason))
		}
	}
	return what, nil
}

// reasonColumns are the columns of eval --why that tell of a column.
var reasonColumns = []runs.Column{
	{Key: "column"}, {Key: "value"}, {Key: "column_log_p", Label: "log p of the column", Unit: "nats", Kind: runs.Number, Decimals: 3},
	{Key: "column_log_p_se", Label: "± se", Kind: runs.Number, Decimals: 3}, {Key: "typical"},
	{Key: "below", Label: "below typical", Unit: "nats", Kind: runs.Number, Decimals: 3}, {Key: "odd", Kind: runs.Boolean},
}

// explain adds reasonColumns to columns, and returns their cells for each row and each of its columns, the oddest first. It also describes
// how log p was computed.
func explain(ctx context.Context, run *runs.Run, model any, o runs.EvaluationOptions, columns []runs.Column) ([]runs.Column, [][][]any, string, error) {
	of, all, what, err := run.Why(ctx, model, o)
	if err != nil {
		return nil, nil, "", err
	}
	typical := dataset.Sheet{Shape: o.Rows.Shape, Values: o.Rows.Floats()}
	_, values, err := o.Set.Fields(typical, dataset.Writing{})
	if err != nil {
		return nil, nil, "", err
	}
	for r, list := range all {
		for i, c := range list {
			copy(typical.Values[r][of[i].First:], c.Typical())
		}
	}
	_, others, err := o.Set.Fields(typical, dataset.Writing{})
	if err != nil {
		return nil, nil, "", err
	}
	worst, place := 0.0, ""
	cells := make([][][]any, len(all))
	for r, list := range all {
		order := make([]int, len(list))
		for i, c := range list {
			if order[i] = i; c.SE > worst {
				worst, place = c.SE, fmt.Sprintf("row %d, %s", r+1, of[i].Name)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Below(), list[a].Below()) })
		for _, i := range order {
			c, se := list[i], any(list[i].SE)
			if math.IsNaN(c.SE) {
				se = nil
			}
			cells[r] = append(cells[r], []any{of[i].Name, values[r][i], c.LogP, se, others[r][i], c.Below(), c.Odd()})
		}
	}
	if worst > 0 {
		what += fmt.Sprintf("; the largest standard error is %.2g nats (%s)", worst, place)
	}
	return append(columns, reasonColumns...), cells, what, nil
}
