package runs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// A scorer is a model with log p of rows up to a constant. The distribution of a column given the others needs no more.
type scorer interface {
	// Scores returns log p of rows up to a constant, in nats, and reports whether it is exact.
	Scores(ctx context.Context, rows dataset.Split) (logs []float64, exact bool, err error)
}

// A conditioner is a model that computes log p of a column given the others, without a sum over all values of the column.
type conditioner interface {
	// GivenOthers returns a function that computes log p, in nats, of values of a column in a row of o.Rows given the other
	// columns, and standard errors, which are 0 if log p is exact. A value has the units of the column. what describes how log p
	// is computed.
	GivenOthers(ctx context.Context, o EvaluationOptions, columns []dataset.Column) (of func(row, column int, values [][]float64) (logs, se []float64), what string, err error)
}

// Conditional is the distribution of a column in a row given the other columns of the row.
type Conditional struct {
	Values [][]float64 // the units of each category, or numbers of the unit in ascending order
	Logs   []float64   // log p of each category, or the log density at each number, in nats
	LogP   float64     // log p of the row's own value
	SE     float64     // standard error of LogP: 0 if LogP is exact, NaN if the error is unknown
}

// oddBelow is the number of nats by which log p of an odd value is below log p of the most probable value: 20 times less probable.
const oddBelow = 3

// Typical returns the units of the most probable value.
func (c Conditional) Typical() []float64 { return c.Values[floats.MaxIdx(c.Logs)] }

// Below returns by how many nats log p of the row's own value is below log p of the most probable value.
func (c Conditional) Below() float64 { return max(0, floats.Max(c.Logs)-c.LogP) }

// Odd reports whether the row's own value is less than 1/20 as probable as the most probable value.
func (c Conditional) Odd() bool { return c.Below() > oddBelow }

// Quantile returns the number of the unit below which a share of the distribution of a column of numbers lies.
func (c Conditional) Quantile(share float64) float64 {
	sums, most := []float64{0}, floats.Max(c.Logs)
	for k := range c.Logs[1:] {
		area := (c.Values[k+1][0] - c.Values[k][0]) * (math.Exp(c.Logs[k]-most) + math.Exp(c.Logs[k+1]-most)) / 2
		sums = append(sums, sums[k]+area)
	}
	share *= sums[len(sums)-1]
	k := max(1, slices.IndexFunc(sums, func(sum float64) bool { return sum >= share }))
	from, to := c.Values[k-1][0], c.Values[k][0]
	return from + (to-from)*(share-sums[k-1])/max(sums[k]-sums[k-1], math.SmallestNonzeroFloat64)
}

// rowsAtOnce is the number of rows whose columns Why takes together.
const rowsAtOnce = 64

// Why returns the distribution of each column given the other columns in each row of o.Rows: a Conditional for each row and column.
// The columns are the columns of Fields of o.Set. For models with log p up to a constant, Why sums over the categories of a column, or
// integrates over its numbers by the trapezoidal rule, to some 10⁻¹⁰. It is thus the distribution given that a categorical column
// has one of its values. what describes how log p was computed. Why refuses rows with values between 0 and 1, which are no
// categories, rows with missing values, and models that have only estimates of log p.
func (r *Run) Why(ctx context.Context, model any, o EvaluationOptions) (columns []dataset.Column, all [][]Conditional, what string, err error) {
	if err = CheckRows(o.Set.Shape().Units(), false, o.Rows); err != nil {
		return nil, nil, "", err
	}
	if columns, _, err = o.Set.Fields(dataset.Sheet{Shape: o.Set.Shape()}, dataset.Writing{}); err != nil {
		return nil, nil, "", err
	}
	rows, what := o.Rows.Floats(), "exact"
	if err := checkCategories(columns, o.Rows, rows); err != nil {
		return nil, nil, "", err
	}
	conditioner, is := model.(conditioner)
	scores := scoresOf(model, o)
	if !is && scores == nil {
		return nil, nil, "", r.Lacks("has no log p by column")
	}
	progress := o.ProgressOf("explaining")
	for first := 0; first < len(rows); first += rowsAtOnce {
		part := rows[first:min(first+rowsAtOnce, len(rows))]
		var of func(row, column int, values [][]float64) (logs, se []float64)
		if is {
			own := o
			own.Rows, own.Progress = o.Set.Rows(dataset.Sheet{Shape: o.Rows.Shape, Values: part}), nil
			if of, what, err = conditioner.GivenOthers(ctx, own, columns); err != nil {
				return nil, nil, "", err
			}
		}
		found := make([][]Conditional, len(part))
		for k, c := range columns {
			var list []Conditional
			ends, exact := rangeOf(o.Set, c, rows), true
			if is {
				for i, row := range part {
					list = append(list, conditioned(c, row, ends, func(values [][]float64) (logs, se []float64) { return of(i, k, values) }))
				}
				err = ctx.Err()
			} else {
				list, exact, err = summed(o.Set, c, part, ends, func(rows [][]float64) ([]float64, bool, error) {
					return scores(ctx, o.Set.Rows(dataset.Sheet{Shape: o.Rows.Shape, Values: rows}))
				})
			}
			if err != nil {
				return nil, nil, "", err
			}
			if !exact {
				what = "from bounds on log p or estimates of it, whose errors are unknown"
			}
			for i := range list {
				found[i] = append(found[i], list[i])
			}
		}
		all = append(all, found...)
		if progress != nil {
			progress(float64(len(all)) / float64(len(rows)))
		}
	}
	return columns, all, what, nil
}

// TypicalFields returns the fields of rows, and the most probable fields of the columns of a result of Why.
func TypicalFields(set *dataset.Set, rows dataset.Split, columns []dataset.Column, all [][]Conditional) (own, typical [][]string, err error) {
	sheet := dataset.Sheet{Shape: rows.Shape, Values: rows.Floats()}
	if _, own, err = set.Fields(sheet, dataset.Writing{}); err != nil {
		return nil, nil, err
	}
	for r, list := range all {
		for i, c := range list {
			copy(sheet.Values[r][columns[i].First:], c.Typical())
		}
	}
	_, typical, err = set.Fields(sheet, dataset.Writing{})
	return own, typical, err
}

// scoresOf returns the Scores of a model, or log p if it is exact, or nil.
func scoresOf(model any, o EvaluationOptions) func(context.Context, dataset.Split) ([]float64, bool, error) {
	switch of := model.(type) {
	case scorer:
		return of.Scores
	case SampleCounter:
		if by, is := model.(RowEvaluator); is && of.CountSamples(1) == "" {
			return func(ctx context.Context, rows dataset.Split) ([]float64, bool, error) {
				o.Rows, o.Progress = rows, nil
				logs, _, err := by.LogPOfRows(ctx, o)
				return logs, true, err
			}
		}
	}
	return nil
}

func isNumeric(c dataset.Column) bool { return c.Kind == dataset.RealColumn && c.Values == nil }

func checkCategories(columns []dataset.Column, of dataset.Split, rows [][]float64) error {
	for r, row := range rows {
		for _, c := range columns {
			if isNumeric(c) && of.AreReal() {
				continue
			}
			if slices.ContainsFunc(row[c.First:c.First+c.Units], func(v float64) bool { return v != 0 && v != 1 }) {
				return fmt.Errorf("row %d has values between 0 and 1 in the column %s, which are no categories: log p by column needs categories, or real numbers (binarization = \"real\")", r+1, c.Name)
			}
		}
	}
	return nil
}

// categoriesOf returns the units of each category of a column.
func categoriesOf(c dataset.Column) (values [][]float64) {
	if c.Units == 1 && !c.Rest {
		return [][]float64{{0}, {1}}
	}
	for k := range c.Units {
		units := make([]float64, c.Units)
		units[k] = 1
		values = append(values, units)
	}
	if c.Rest {
		values = append(values, make([]float64, c.Units))
	}
	return values
}

// rangeOf returns a range of the unit of a column of numbers, with half its width on either side of the numbers of rows and of the
// training file.
func rangeOf(set *dataset.Set, c dataset.Column, rows [][]float64) (ends [2]float64) {
	if !isNumeric(c) {
		return ends
	}
	ends = [2]float64{rows[0][c.First], rows[0][c.First]}
	add := func(v float64) { ends = [2]float64{min(ends[0], v), max(ends[1], v)} }
	for _, row := range rows {
		add(row[c.First])
	}
	if n := c.Numbers; n != nil && n.Least < n.Greatest {
		add(set.UnitOf(c, n.Least))
		add(set.UnitOf(c, n.Greatest))
	}
	pad := max((ends[1]-ends[0])/2, 1e-3*math.Abs(ends[0]), 1e-3)
	return [2]float64{ends[0] - pad, ends[1] + pad}
}

// gridOf returns n numbers from the first to the second of ends.
func gridOf(ends [2]float64, n int) [][]float64 {
	return lists.Map(floats.Span(make([]float64, n), ends[0], ends[1]), func(v float64) []float64 { return []float64{v} })
}

// conditioned returns the distribution of a column by a function that computes its log p.
func conditioned(c dataset.Column, row []float64, ends [2]float64, of func(values [][]float64) (logs, se []float64)) (found Conditional) {
	own := row[c.First : c.First+c.Units]
	if !isNumeric(c) {
		found.Values = categoriesOf(c)
		logs, se := of(found.Values)
		floats.AddConst(-floats.LogSumExp(logs), logs)
		k := slices.IndexFunc(found.Values, func(units []float64) bool { return slices.Equal(units, own) })
		found.Logs, found.LogP, found.SE = logs, logs[k], se[k]
		return found
	}
	const points = 65
	values := gridOf(ends, points)
	logs, _ := of(values)
	step, top := (ends[1]-ends[0])/(points-1), values[floats.MaxIdx(logs)][0]
	values = append(append(values, gridOf([2]float64{top - step, top + step}, points/2)...), slices.Clone(own)) // finer around the mode
	finer, se := of(values[points:])
	logs = append(logs, finer...)
	found.LogP, found.SE = finer[points/2], se[points/2]
	places, order := make([]float64, len(values)), make([]int, len(values))
	for k, v := range values {
		places[k] = v[0]
	}
	floats.Argsort(places, order)
	for _, k := range order {
		found.Values, found.Logs = append(found.Values, values[k]), append(found.Logs, logs[k])
	}
	return found
}

// mostPoints is the largest number of points of a grid for an integral.
const mostPoints = 1 << 13

// summed returns the distribution of a column in rows from log p of rows up to a constant.
func summed(set *dataset.Set, c dataset.Column, rows [][]float64, ends [2]float64, scores func(rows [][]float64) ([]float64, bool, error)) (found []Conditional, exact bool, err error) {
	values, numeric := categoriesOf(c), isNumeric(c)
	// The points are multiples of a power of two, so that rows hold them without rounding.
	step := math.Exp2(math.Floor(math.Log2((ends[1] - ends[0]) / 64)))
	low, n := math.Floor(ends[0]/step)*step, int((ends[1]-ends[0])/step)+2
	var before []float64 // the last integrals
	last := 0.0          // the largest difference between the last two
	for {
		if numeric {
			values = gridOf([2]float64{low, low + float64(n-1)*step}, n)
		}
		var others [][]float64
		for _, row := range rows {
			for _, units := range append([][]float64{row[c.First : c.First+c.Units]}, values...) {
				others = append(others, slices.Concat(row[:c.First], units, row[c.First+c.Units:]))
			}
		}
		logs, is, err := scores(others)
		if err != nil {
			return nil, false, err
		}
		found, exact = nil, is
		var sums []float64
		lower, upper, difference := false, false, 0.0
		for i := range rows {
			own, of := logs[0], logs[1:len(values)+1]
			logs = logs[len(values)+1:]
			sum := floats.LogSumExp(of)
			if numeric {
				const negligible = 36 // nats
				most := floats.Max(of)
				lower, upper = lower || of[0] > most-negligible, upper || of[len(of)-1] > most-negligible
				sum += math.Log(values[1][0] - values[0][0])
			}
			one := Conditional{Values: values, Logs: slices.Clone(of), LogP: own - sum}
			floats.AddConst(-sum, one.Logs)
			if sums = append(sums, sum); before != nil {
				difference = max(difference, math.Abs(sum-before[i])/max(1, math.Abs(sum)))
			}
			if !exact {
				one.SE = math.NaN()
			}
			found = append(found, one)
		}
		switch wider := n - 1; {
		case !numeric || before != nil && difference < 1e-11:
			return found, exact, nil
		case before != nil && exact && difference < 1e-5 && difference > last/4 && last > 0: // only rounding is left
			for i := range found {
				found[i].SE = difference
			}
			return found, exact, nil
		case (lower || upper) && n < mostPoints:
			if before = nil; lower {
				low, n = low-float64(wider)*step, n+wider
			}
			if upper {
				n += wider
			}
		case n >= mostPoints:
			for i := range found {
				found[i].SE = math.NaN() // the density is narrower than the grid, or has no integral
			}
			return found, false, nil
		default:
			before, last, step, n = sums, difference, step/2, 2*n-1
		}
	}
}
