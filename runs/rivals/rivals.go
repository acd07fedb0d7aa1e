// Package rivals fits simple models to the rows on which a model was trained, so that an evaluation shows what the model is
// worth: a tree of categories (Chow and Liu 1968), a full Gaussian, and a mixture chosen by BIC, and for labels logistic regression and the
// nearest neighbour.
//
// A row has categorical variables and real numbers. Shares of categories are smoothed by half a row for each category, as
// in the baselines of package factorized, and variances have a floor of 10⁻⁶ of the variance of their column.
package rivals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Rival is a model fitted to training rows.
type Rival struct {
	Key, Name string
	LogP      []float64 // of each evaluated row, in nats
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
	if rows.Reals != nil {
		kind = dataset.RealColumn
	}
	for i := 0; len(set.Columns()) == 0 && i < rows.Shape.Units(); i++ {
		columns = append(columns, dataset.Column{First: i, Units: 1, Kind: kind})
	}
	return columns
}

func isReal(c dataset.Column) bool { return c.Kind == dataset.RealColumn && c.Values == nil }

// tableOf returns the rows of a split by the columns of its set.
func tableOf(set *dataset.Set, rows dataset.Split) (t table, err error) {
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

// A mixture is fitted to at most mostReals real columns, and all rivals to at most mostRows training rows.
const mostReals, mostRows = 100, 20_000

// Fit fits rivals to the training rows of a set, or to 20,000 of them, and returns their log p of other rows.
func Fit(set *dataset.Set, rows dataset.Split) (all []Rival, err error) {
	train, err := tableOf(set, set.Train().Subset(mostRows, 1))
	if err != nil {
		return nil, err
	}
	test, err := tableOf(set, rows)
	if err != nil {
		return nil, err
	}
	rival := Rival{"gaussian", "full Gaussian", make([]float64, rows.Rows)}
	if len(train.sizes) > 0 {
		rival = Rival{"tree", "Chow–Liu tree", treeOf(train).logP(test)}
	}
	if len(train.reals[0]) > 0 {
		if len(train.sizes) > 0 {
			rival.Key, rival.Name = "tree_gaussian", "tree and Gaussian"
		}
		logs, err := conditional(train, test)
		if err != nil {
			return nil, err
		}
		floats.Add(rival.LogP, logs)
	}
	all = append(all, rival)
	if len(train.reals[0]) <= mostReals {
		m := mixtureOf(train)
		logs, _ := m.logP(test)
		all = append(all, Rival{"mixture", fmt.Sprintf("mixture of %d", len(m.shares)), logs})
	}
	return all, nil
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
	order, parents []int         // the variables, each after its parent, and the parent of each, or −1
	logs           [][][]float64 // log p(category|category of the parent) of each variable
}

// treeOf returns the tree with the largest sum of mutual informations (Chow and Liu 1968), by Prim's algorithm.
func treeOf(t table) (of tree) {
	n := len(t.sizes)
	pair := func(i, j int) (counts [][]float64) {
		for range t.sizes[i] {
			counts = append(counts, make([]float64, t.sizes[j]))
		}
		for r, codes := range t.codes {
			counts[codes[i]][codes[j]] += t.weights[r]
		}
		return counts
	}
	total := floats.Sum(t.weights)
	information := func(i, j int) (nats float64) {
		counts, right := pair(i, j), make([]float64, t.sizes[j])
		for _, row := range counts {
			floats.Add(right, row)
		}
		for _, row := range counts {
			left := floats.Sum(row)
			for k, c := range row {
				if c > 0 {
					nats += c / total * math.Log(c*total/(left*right[k]))
				}
			}
		}
		return nats
	}
	of = tree{parents: slices.Repeat([]int{-1}, n), logs: make([][][]float64, n)}
	best := slices.Repeat([]float64{math.Inf(-1)}, n) // of an edge to the tree
	for next := 0; next >= 0; {
		of.order = append(of.order, next)
		last := next
		next = -1
		for i := range n {
			if slices.Contains(of.order, i) {
				continue
			}
			if nats := information(last, i); nats > best[i] {
				best[i], of.parents[i] = nats, last
			}
			if next < 0 || best[i] > best[next] {
				next = i
			}
		}
	}
	for i, parent := range of.parents {
		counts := [][]float64{make([]float64, t.sizes[i])}
		if parent >= 0 {
			counts = pair(parent, i)
		} else {
			for r, codes := range t.codes {
				counts[0][codes[i]] += t.weights[r]
			}
		}
		of.logs[i] = counts
		for _, row := range counts {
			smooth(row)
		}
	}
	return of
}

// smooth turns counts of categories into the logarithms of their probabilities.
func smooth(counts []float64) {
	n := floats.Sum(counts) + float64(len(counts))/2
	for k, c := range counts {
		counts[k] = math.Log((c + 0.5) / n)
	}
}

func (of tree) logP(t table) []float64 {
	logs := make([]float64, len(t.codes))
	for r, codes := range t.codes {
		for i, parent := range of.parents {
			row := of.logs[i][0]
			if parent >= 0 {
				row = of.logs[i][codes[parent]]
			}
			logs[r] += row[codes[i]]
		}
	}
	return logs
}

// variances returns the variances of the real columns, with 1 for a constant one, by which their floors are set.
func (t table) variances() []float64 {
	all := make([]float64, len(t.reals[0]))
	column := make([]float64, len(t.reals))
	for i := range all {
		for r, row := range t.reals {
			column[r] = row[i]
		}
		_, all[i] = stat.PopMeanVariance(column, t.weights)
		if all[i] == 0 {
			all[i] = 1
		}
	}
	return all
}

// conditional returns log p of the real numbers given the categories, for a Gaussian whose mean is a linear function of the categories and whose
// covariance is full.
func conditional(train, test table) ([]float64, error) {
	inputs := func(t table) *mat.Dense {
		width := 1
		for _, size := range t.sizes {
			width += size
		}
		x := mat.NewDense(len(t.reals), width, nil)
		for r := range t.reals {
			x.Set(r, 0, 1)
			first := 1
			for i, size := range t.sizes {
				x.Set(r, first+t.codes[r][i], 1)
				first += size
			}
		}
		return x
	}
	x, d := inputs(train), len(train.reals[0])
	y := mat.NewDense(len(train.reals), d, slices.Concat(train.reals...))
	_, width := x.Dims()
	var weighted, product, targets, coefficients, residuals mat.Dense
	weighted.CloneFrom(x)
	for r, w := range train.weights {
		floats.Scale(w, weighted.RawRowView(r))
	}
	product.Mul(weighted.T(), x)
	gram := mat.NewSymDense(width, nil)
	for i := range width {
		for j := i; j < width; j++ {
			gram.SetSym(i, j, product.At(i, j))
		}
		if i > 0 {
			gram.SetSym(i, i, gram.At(i, i)+1e-3) // the categories of a variable sum to the constant
		}
	}
	var chol mat.Cholesky
	targets.Mul(weighted.T(), y)
	if !chol.Factorize(gram) || chol.SolveTo(&coefficients, &targets) != nil {
		return nil, fmt.Errorf("the regression of the real columns on the categories has no solution")
	}
	residuals.Mul(x, &coefficients)
	residuals.Sub(y, &residuals)
	centred := make([][]float64, len(train.reals))
	for r := range centred {
		centred[r] = residuals.RawRowView(r)
	}
	of, err := gaussianOf(centred, train.weights, make([]float64, d), train.variances())
	if err != nil {
		return nil, err
	}
	var means mat.Dense
	means.Mul(inputs(test), &coefficients)
	logs := make([]float64, len(test.reals))
	for r, row := range test.reals {
		logs[r] = of.LogProb(floats.SubTo(make([]float64, d), row, means.RawRowView(r)))
	}
	return logs, nil
}

// gaussianOf returns the Gaussian with the covariance of weighted rows around a mean, to whose diagonal 10⁻⁶ of variances is added.
func gaussianOf(rows [][]float64, weights, mean, variances []float64) (*distmv.Normal, error) {
	d, n := len(mean), floats.Sum(weights)
	covariance, difference := mat.NewSymDense(d, nil), make([]float64, d)
	for r, row := range rows {
		floats.SubTo(difference, row, mean)
		covariance.SymRankOne(covariance, weights[r]/n, mat.NewVecDense(d, difference))
	}
	for i, v := range variances {
		covariance.SetSym(i, i, covariance.At(i, i)+1e-6*v)
	}
	of, ok := distmv.NewNormal(mean, covariance, nil)
	if !ok {
		return nil, fmt.Errorf("a covariance of %s has no inverse", names.Count(d, "column"))
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
	d, lowest, worse := len(t.reals[0]), math.Inf(1), 0
	for k := 1; k <= mostComponents && worse < 2; k++ {
		parameters := float64(k - 1 + k*(d+d*(d+1)/2))
		for _, size := range t.sizes {
			parameters += float64(k * (size - 1))
		}
		worse++
		for start := range starts {
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
// rows. It fails if a component loses all its rows.
func (t table) expectationMaximisation(k int, random *rand.Rand) (m mixture, logP float64, ok bool) {
	variances, belong := t.variances(), make([][]float64, len(t.codes))
	distance := func(a, b int) (square float64) {
		for i, v := range t.reals[a] {
			square += (v - t.reals[b][i]) * (v - t.reals[b][i]) / variances[i]
		}
		for i, code := range t.codes[a] {
			if code != t.codes[b][i] {
				square++
			}
		}
		return square
	}
	var centres []int
	for range k { // as k-means++ chooses them (Arthur and Vassilvitskii 2007)
		chances := slices.Clone(t.weights)
		for r := range chances {
			nearest := 1.0
			for i, c := range centres {
				if square := distance(r, c); i == 0 || square < nearest {
					nearest = square
				}
			}
			chances[r] *= nearest
		}
		at := random.Float64() * floats.Sum(chances)
		c := slices.IndexFunc(chances, func(chance float64) bool { at -= chance; return at < 0 })
		if c < 0 {
			return m, 0, false // fewer different rows than components
		}
		centres = append(centres, c)
	}
	for r := range belong {
		belong[r] = make([]float64, k)
		belong[r][floats.MinIdx(func() (squares []float64) {
			for _, c := range centres {
				squares = append(squares, distance(r, c))
			}
			return squares
		}())] = 1
	}
	logP = math.Inf(-1)
	for range 300 {
		if m, ok = t.maximise(k, belong, variances); !ok {
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
func (t table) maximise(k int, belong [][]float64, variances []float64) (m mixture, ok bool) {
	for j := range k {
		weights := make([]float64, len(belong))
		for r := range weights {
			weights[r] = belong[r][j] * t.weights[r]
		}
		n := floats.Sum(weights)
		if n < 1 {
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
		if len(variances) > 0 {
			mean := make([]float64, len(variances))
			for r, row := range t.reals {
				floats.AddScaled(mean, weights[r]/n, row)
			}
			of, err := gaussianOf(t.reals, weights, mean, variances)
			if err != nil {
				return m, false
			}
			m.gaussians = append(m.gaussians, of)
		}
	}
	return m, true
}
