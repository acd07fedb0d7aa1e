// Package rivals fits simple models to the rows on which a model was trained, so that an evaluation shows what the model is
// worth: a tree of categories (Chow and Liu 1968), a full Gaussian, and a mixture chosen by BIC, and for labels logistic regression and the
// nearest neighbour.
//
// A row has categorical variables and real numbers. Shares of categories are smoothed by half a row for each category, as
// in the baselines of package factorized, and variances have a floor of 10⁻⁶ of the variance of their column.
package rivals

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Rival is a model fitted to training rows.
type Rival struct {
	Key, Name string
	Values    []float64 // log p of each evaluated row, in nats; nil if the model was not fitted
	Reason    string    // why it was not fitted, or ""
}

// table holds rows by variable.
type table struct {
	codes   [][]int     // the categories of each row
	reals   [][]float64 // the real numbers of each row
	sizes   []int       // the number of categories of each categorical variable
	weights []float64   // the number of rows that each row counts as
}

// columnsOf returns the columns of a set with units. Units without columns are real numbers, or binary.
func columnsOf(set *dataset.Set, rows dataset.Split) []dataset.Column {
	columns := slices.DeleteFunc(set.Columns(), func(c dataset.Column) bool { return c.Units == 0 })
	kind := dataset.BinaryColumn
	if rows.AreReal() {
		kind = dataset.RealColumn
	}
	for i, c := range columns {
		if isReal(c) {
			columns[i].Kind = kind // numbers that are not real are 0 and 1
		}
	}
	for i := 0; len(set.Columns()) == 0 && i < rows.Shape.Units(); i++ {
		columns = append(columns, dataset.Column{First: i, Units: 1, Kind: kind})
	}
	return columns
}

func isReal(c dataset.Column) bool { return c.Kind == dataset.RealColumn && c.Values == nil }

// tableOf returns the rows of a split by the columns of its set.
func tableOf(set *dataset.Set, rows dataset.Split) (t table, err error) {
	if rows.Lacking() > 0 {
		return t, fmt.Errorf("the %s rows have missing values, and rivals need complete rows: take them with Split.Complete", rows.Name)
	}
	if rows.Lengths != nil {
		return t, errors.New("rivals model rows of a table, not sequences, whose padding they would take for data: omit --rivals, and compare log p per step with the baseline of training")
	}
	columns := columnsOf(set, rows)
	t.weights = rows.Counts()
	for _, c := range columns {
		if !isReal(c) {
			t.sizes = append(t.sizes, c.Units)
			if c.Rest || c.Kind == dataset.BinaryColumn {
				t.sizes[len(t.sizes)-1]++
			}
		}
	}
	for r, row := range rows.Floats() {
		var codes []int
		var reals []float64
		for _, c := range columns {
			if isReal(c) {
				reals = append(reals, row[c.First])
				continue
			}
			units := row[c.First : c.First+c.Units]
			code := slices.Index(units, 1)
			if slices.ContainsFunc(units, func(v float64) bool { return v != 0 && v != 1 }) {
				return t, fmt.Errorf("row %d of %s has values between 0 and 1, which are no categories: rivals need rows of categories and real numbers", r+1, rows.Name)
			}
			if code < 0 {
				code = c.Units // the category in which no unit is on
			}
			codes = append(codes, min(code, t.sizes[len(codes)]-1))
		}
		t.codes, t.reals = append(t.codes, codes), append(t.reals, reals)
	}
	return t, nil
}

// A mixture is fitted to at most mostReals real columns and at most mostRows training rows.
const mostReals, mostRows = 100, 5000

// Fit fits rivals to the complete training rows of a set, a mixture to at most 5,000 of them, and returns their log p of other complete
// rows. A mixture of more than 100 columns of numbers, and a model of too few rows for its covariance, are not fitted.
func Fit(set *dataset.Set, rows dataset.Split) (all []Rival, err error) {
	complete := set.Train().Complete()
	if complete.Rows == 0 {
		return nil, errors.New("no training row is complete, but rivals learn from complete rows: omit --rivals")
	}
	train, err := tableOf(set, complete)
	if err != nil {
		return nil, err
	}
	test, err := tableOf(set, rows)
	if err != nil {
		return nil, err
	}
	rival := Rival{Key: "gaussian", Name: "full Gaussian", Values: make([]float64, rows.Rows)}
	if len(train.sizes) > 0 {
		rival = Rival{Key: "tree", Name: "Chow–Liu tree", Values: treeOf(train).logP(test)}
	}
	if len(train.reals[0]) > 0 {
		if len(train.sizes) > 0 {
			rival.Key, rival.Name = "tree_gaussian", "tree and Gaussian"
		}
		columns := len(train.reals[0])
		for _, size := range train.sizes {
			columns += size - 1
		}
		if rows := len(train.reals); rows <= columns {
			rival.Values, rival.Reason = nil, tooFew(rows, columns)
		} else {
			logs, err := conditional(train, test)
			if err != nil {
				return nil, err
			}
			floats.Add(rival.Values, logs)
		}
	}
	all = append(all, rival)
	mixture := Rival{Key: "mixture", Name: "mixture"}
	if n := len(train.reals[0]); n > mostReals {
		mixture.Reason = fmt.Sprintf("%d columns of numbers, more than %d", n, mostReals)
		return append(all, mixture), nil
	}
	few := train
	if part := complete.Subset(mostRows, 1); part.Rows < len(train.codes) {
		if few, err = tableOf(set, part); err != nil {
			return nil, err
		}
	}
	m := mixtureOf(few)
	if n := len(m.shares); n == 0 {
		mixture.Reason = tooFew(len(few.reals), len(few.reals[0]))
	} else {
		mixture.Name = fmt.Sprintf("mixture of %d", n)
		mixture.Values, _ = m.logP(test)
	}
	return append(all, mixture), nil
}

func tooFew(rows, columns int) string {
	return fmt.Sprintf("%s are too few for the covariance of %s", names.Count(rows, "training row"), names.Count(columns, "column"))
}

// Baseline returns the baseline of rows whose columns are independent.
func Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	var variables []factorized.Variable
	for _, c := range columnsOf(set, rows) {
		variables = append(variables, factorized.Variable{Units: c.Units, Rest: c.Rest || c.Kind == dataset.BinaryColumn, Real: isReal(c)})
	}
	return factorized.Categorical(set.Train(), rows, variables)
}

// tree is a tree of categorical variables.
type tree struct {
	parents []int         // of each variable, or −1
	logs    [][][]float64 // log p(category|category of the parent) of each variable
}

// counts returns the numbers of rows by the categories of two variables. Variable −1 has one category.
func (t table) counts(i, j int) (counts [][]float64) {
	rows := 1
	if i >= 0 {
		rows = t.sizes[i]
	}
	for range rows {
		counts = append(counts, make([]float64, t.sizes[j]))
	}
	for r, codes := range t.codes {
		counts[codeOf(codes, i)][codes[j]] += t.weights[r]
	}
	return counts
}

func codeOf(codes []int, i int) int {
	if i < 0 {
		return 0
	}
	return codes[i]
}

// information returns the mutual information of two variables, in nats.
func (t table) information(i, j int) (nats float64) {
	total, right := floats.Sum(t.weights), t.counts(-1, j)[0]
	for _, row := range t.counts(i, j) {
		left := floats.Sum(row)
		for k, c := range row {
			if c > 0 {
				nats += c / total * math.Log(c*total/(left*right[k]))
			}
		}
	}
	return nats
}

// treeOf returns the tree with the largest sum of mutual informations (Chow and Liu 1968), by Prim's algorithm.
func treeOf(t table) (of tree) {
	n := len(t.sizes)
	of.parents = slices.Repeat([]int{-1}, n)
	best, done := slices.Repeat([]float64{math.Inf(-1)}, n), make([]bool, n) // information of an edge to the tree
	for last := 0; last >= 0; {
		done[last] = true
		next := -1
		for i := range n {
			if done[i] {
				continue
			}
			if nats := t.information(last, i); nats > best[i] {
				best[i], of.parents[i] = nats, last
			}
			if next < 0 || best[i] > best[next] {
				next = i
			}
		}
		last = next
	}
	for i, parent := range of.parents {
		of.logs = append(of.logs, t.counts(parent, i))
		for _, row := range of.logs[i] {
			smooth(row)
		}
	}
	return of
}

func (of tree) logP(t table) []float64 {
	logs := make([]float64, len(t.codes))
	for r, codes := range t.codes {
		for i, parent := range of.parents {
			logs[r] += of.logs[i][codeOf(codes, parent)][codes[i]]
		}
	}
	return logs
}

// smooth turns counts of categories into the logarithms of their probabilities.
func smooth(counts []float64) {
	n := floats.Sum(counts) + float64(len(counts))/2
	for k, c := range counts {
		counts[k] = math.Log((c + 0.5) / n)
	}
}

// conditional returns log p of the real numbers given the categories: log p of both less log p of the categories, as if these were
// numbers 0 and 1 of one Gaussian. The mean is then a linear function of the categories, and the covariance is full.
func conditional(train, test table) ([]float64, error) {
	d := len(train.reals[0])
	rows := train.numbers()
	of, err := gaussianOf(rows, train.weights, floorsOf(rows, train.weights))
	if err != nil {
		return nil, err
	}
	var categories []int
	for i := d; i < of.Dim(); i++ {
		categories = append(categories, i)
	}
	var others *distmv.Normal // of the categories alone
	if categories != nil {
		others, _ = of.MarginalNormal(categories, nil) // a part of a covariance with an inverse has one
	}
	logs := make([]float64, len(test.reals))
	for r, row := range test.numbers() {
		if logs[r] = of.LogProb(row); others != nil {
			logs[r] -= others.LogProb(row[d:])
		}
	}
	return logs, nil
}

// numbers returns the real numbers of each row, and a number 0 or 1 for each category.
func (t table) numbers() (rows [][]float64) {
	for r, row := range t.reals {
		row = slices.Clone(row)
		for i, size := range t.sizes {
			units := make([]float64, size)
			units[t.codes[r][i]] = 1
			row = append(row, units...)
		}
		rows = append(rows, row)
	}
	return rows
}

// floorsOf returns 10⁻⁶ of the variance of each column, or of 1 for a constant column.
func floorsOf(rows [][]float64, weights []float64) (floors []float64) {
	for i := range rows[0] {
		column := lists.Map(rows, func(row []float64) float64 { return row[i] })
		_, variance := stat.PopMeanVariance(column, weights)
		floors = append(floors, 1e-6*cmp.Or(variance, 1))
	}
	return floors
}

// gaussianOf returns the Gaussian of weighted rows, with floors added to its variances.
func gaussianOf(rows [][]float64, weights, floors []float64) (*distmv.Normal, error) {
	x, covariance := mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...)), new(mat.SymDense)
	mean, n := make([]float64, len(rows[0])), floats.Sum(weights)
	for r, row := range rows {
		floats.AddScaled(mean, weights[r]/n, row)
	}
	for r, w := range weights {
		floats.Sub(x.RawRowView(r), mean)
		floats.Scale(math.Sqrt(w/n), x.RawRowView(r))
	}
	covariance.SymOuterK(1, x.T())
	for i := range mean {
		covariance.SetSym(i, i, covariance.At(i, i)+floors[i])
	}
	of, ok := distmv.NewNormal(mean, covariance, nil)
	if !ok {
		return nil, fmt.Errorf("a covariance of %s has no inverse", names.Count(len(mean), "column"))
	}
	return of, nil
}

// mixture is a mixture of products of categories with a full Gaussian.
type mixture struct {
	shares    []float64
	gaussians []*distmv.Normal // nil without real numbers
	logs      [][][]float64    // log p of each category of each variable in each component
}

// logP returns log p of each row, and log p of the component and the row.
func (m mixture) logP(t table) (logs []float64, joint [][]float64) {
	for r, codes := range t.codes {
		row := make([]float64, len(m.shares))
		for k, share := range m.shares {
			row[k] = math.Log(share)
			for i, code := range codes {
				row[k] += m.logs[k][i][code]
			}
			if m.gaussians != nil {
				row[k] += m.gaussians[k].LogProb(t.reals[r])
			}
		}
		logs, joint = append(logs, floats.LogSumExp(row)), append(joint, row)
	}
	return logs, joint
}

// mostComponents is the largest number of components that mixtureOf tries, and starts is the number of random starts for each.
const mostComponents, starts = 15, 3

// mixtureOf returns the mixture with the lowest BIC. It stops when two more components in a row do not lower it.
func mixtureOf(t table) (best mixture) {
	const fitting = "fitting mixtures"
	defer work.Progress(fitting, 1)
	d, lowest, worse := len(t.reals[0]), math.Inf(1), 0
	for k := 1; k <= mostComponents && worse < 2; k++ {
		parameters := float64(k - 1 + k*(d+d*(d+1)/2))
		for _, size := range t.sizes {
			parameters += float64(k * (size - 1))
		}
		worse++
		for start := range starts {
			work.Progress(fitting, float64((k-1)*starts+start)/(mostComponents*starts))
			m, logP, ok := t.expectationMaximisation(k, rand.New(rand.NewPCG(uint64(k), uint64(start))))
			if bic := parameters*math.Log(floats.Sum(t.weights)) - 2*logP; ok && bic < lowest {
				best, lowest, worse = m, bic, 0
			}
			if k == 1 {
				break
			}
		}
	}
	return best
}

// expectationMaximisation fits a mixture of k components, and returns its log p of all rows. It starts at the rows nearest to k random
// rows. It fails if a component has fewer rows than a covariance needs.
func (t table) expectationMaximisation(k int, random *rand.Rand) (m mixture, logP float64, ok bool) {
	rows, belong, centres := t.numbers(), make([][]float64, len(t.codes)), random.Perm(len(t.codes))
	floors, scales := floorsOf(t.reals, t.weights), floorsOf(rows, t.weights)
	for _, row := range rows {
		for i, v := range row {
			row[i] = v / math.Sqrt(scales[i])
		}
	}
	for r := range belong {
		belong[r] = make([]float64, k)
		squares := lists.N(k, func(j int) float64 { return floats.Distance(rows[r], rows[centres[j%len(rows)]], 2) })
		belong[r][floats.MinIdx(squares)] = 1
	}
	logP = math.Inf(-1)
	for range 300 {
		if m, ok = t.maximise(k, belong, floors); !ok {
			return m, 0, false
		}
		logs, joint := m.logP(t)
		before := logP
		logP = floats.Dot(logs, t.weights)
		if !(logP-before > 1e-6*floats.Sum(t.weights)) {
			break
		}
		for r, row := range joint {
			for j, log := range row {
				belong[r][j] = math.Exp(log - logs[r])
			}
		}
	}
	return m, logP, true
}

// maximise returns the mixture of k components for the shares with which rows belong to them.
func (t table) maximise(k int, belong [][]float64, floors []float64) (m mixture, ok bool) {
	for j := range k {
		weights := lists.N(len(belong), func(r int) float64 { return belong[r][j] * t.weights[r] })
		n := floats.Sum(weights)
		if n < float64(1+len(floors)) {
			return m, false
		}
		var logs [][]float64
		for i, size := range t.sizes {
			counts := make([]float64, size)
			for r, codes := range t.codes {
				counts[codes[i]] += weights[r]
			}
			smooth(counts)
			logs = append(logs, counts)
		}
		m.shares, m.logs = append(m.shares, n/floats.Sum(t.weights)), append(m.logs, logs)
		if len(t.reals[0]) > 0 {
			of, err := gaussianOf(t.reals, weights, floors)
			if err != nil {
				return m, false
			}
			m.gaussians = append(m.gaussians, of)
		}
	}
	return m, true
}
