package plotting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/color"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figures of tables show at most these numbers of rows, columns, words and units.
const (
	mostRows      = 1000
	mostMarginals = 24
	mostPairs     = 5
	mostWords     = 9
	mostUnits     = 40
	mostImputed   = 9
	mostExplained = 100
)

// HasColumns reports whether the rows of a run are rows of a table, for which TableFigures draws figures.
func HasColumns(run *runs.Run) bool {
	set, err := run.Blank()
	return err == nil && slices.ContainsFunc(set.Columns(), func(c dataset.Column) bool { return c.Units > 0 })
}

// TableFigures draws the figures of the last checkpoint of a run on a table, and passes each to save with its kind: marginals and pairs of
// columns in training rows beside samples, their correlations, the weights of hidden units, fields of test rows that the model
// fills in, and log p of odd test rows by column. path is where the data of the run are now, or "". TableFigures
// also returns a line for each figure that it cannot draw, or only in part.
func TableFigures(ctx context.Context, run *runs.Run, path string, save func(f *Figure, kind string) error) (missing []string, err error) {
	model, err := run.ModelAt("last")
	if err != nil {
		return nil, err
	}
	lacks := func(kind string, err error) { missing = append(missing, kind+": "+err.Error()) }
	seed, rows := run.Experiment().Header().Seed, dataset.Split{}
	set, err := run.DatasetAt(path)
	switch {
	case err == nil:
		complete := set.Train().Complete()
		if left := set.Train().Rows - complete.Rows; left > 0 {
			lacks("the figures show complete training rows alone", fmt.Errorf("%s have missing values", names.Count(left, "row")))
		}
		rows = complete.Subset(mostRows, seed)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		lacks("the figures show no data", withoutData(err))
		if set, err = run.Blank(); err != nil {
			return missing, err
		}
	}
	data := dataset.Sheet{Shape: set.Shape()}
	if rows.Rows > 0 {
		data.Values = rows.Floats()
	}
	samples, _, err := run.Given(ctx, model, set, nil, runs.Sampling{N: cmp.Or(rows.Rows, mostRows), Seed: seed}, dataset.Writing{})
	if ctx.Err() != nil {
		return missing, ctx.Err()
	}
	if err != nil {
		lacks("the figures show no samples", err)
		samples = dataset.Sheet{Shape: set.Shape()}
	}
	add := func(kind string, f *Figure) {
		if err == nil {
			err = save(f, kind)
		}
	}
	columns, own, err := set.Fields(data, dataset.Writing{})
	if err != nil {
		return missing, err
	}
	_, drawn, err := set.Fields(samples, dataset.Writing{})
	if err != nil {
		return missing, err
	}
	if len(own)+len(drawn) > 0 {
		all, weights := variablesOf(columns, own, drawn), rows.MeanWeights()
		add("marginals", marginals(all, weights))
		if len(all) > 1 {
			correlated := correlationsOf(all, weights)
			add("pairs", pairs(all, correlated, weights))
			add("correlations", correlated.figure())
		}
	}
	if f, err := weightsFigure(ctx, columns, model); err != nil {
		lacks("no figure weights", err)
	} else {
		add("weights", f)
	}
	if set.Train().Rows > 0 {
		rows = set.Train().Complete()
		for _, other := range []dataset.Split{set.Validation().Complete(), set.Test().Complete()} {
			if other.Rows > 0 {
				rows = other
			}
		}
		if e, err := explain(ctx, run, model, set, rows.Subset(mostExplained, seed)); err != nil {
			lacks("no figures imputed and odd", err)
		} else {
			add("imputed", e.imputed())
			add("odd", e.reasons())
		}
	}
	return missing, cmp.Or(ctx.Err(), err)
}

// withoutData adds a remedy to the error of data that cannot be opened.
func withoutData(err error) error {
	return fmt.Errorf("%w; if the data have moved, name their path with --dataset", err)
}

// variable is a column of a table with its values in data and in samples.
type variable struct {
	name  string
	words []string    // nil for numbers
	of    [][]float64 // of each source: numbers, or places among the words
}

// sourceNames are the names of data and samples in legends, which have the first two colours of the palette.
var sourceNames = [2]string{"data", "samples"}

// wordsOf returns the words that Fields writes in a column, or nil for numbers.
func wordsOf(c dataset.Column) []string {
	if c.Kind == dataset.RealColumn && c.Values == nil {
		return nil
	}
	words := slices.Clone(c.Values)
	for k := len(words); k < c.Units; k++ {
		words = append(words, strconv.Itoa(k+1))
	}
	if c.Rest {
		words = append(words, "")
	}
	return words
}

// variablesOf returns the columns of data and samples, whose fields are given. Rare words of a column with many are merged.
func variablesOf(columns []dataset.Column, sources ...[][]string) (all []variable) {
	for i, c := range columns {
		v := variable{name: c.Name, words: wordsOf(c), of: make([][]float64, len(sources))}
		for k, fields := range sources {
			for _, row := range fields {
				x := float64(slices.Index(v.words, row[i]))
				if v.words == nil {
					x, _ = strconv.ParseFloat(row[i], 64)
				}
				v.of[k] = append(v.of[k], x)
			}
		}
		v.merge()
		all = append(all, v)
	}
	return all
}

// merge replaces the rarest words by one if there are more than mostWords.
func (v *variable) merge() {
	if i := slices.Index(v.words, ""); i >= 0 {
		v.words[i] = "(empty)"
	}
	if len(v.words) <= mostWords {
		return
	}
	counts, order := make([]int, len(v.words)), make([]int, len(v.words))
	for _, code := range slices.Concat(v.of...) {
		counts[int(code)]++
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[b] - counts[a] })
	kept := slices.Sorted(slices.Values(order[:mostWords-1]))
	words := lists.Map(kept, func(i int) string { return v.words[i] })
	for _, codes := range v.of {
		for r, code := range codes {
			if codes[r] = float64(slices.Index(kept, int(code))); codes[r] < 0 {
				codes[r] = float64(len(kept))
			}
		}
	}
	v.words = append(words, fmt.Sprintf("(%d others)", len(v.words)-len(kept)))
}

// clipped shortens a text to a number of characters. It keeps both ends, because long names often differ only there.
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most/2]) + "…" + string(runes[len(runes)-(most-most/2-1):])
	}
	return text
}

// indicators returns a name for each word of a column, or a name for a column of numbers.
func indicators(column string, words []string) []string {
	if words == nil {
		return []string{clipped(column, 30)}
	}
	return lists.Map(words, func(word string) string { return clipped(clipped(column, 20)+"="+word, 30) })
}

// wordTicks labels the places 0, 1 and so on with words.
func wordTicks(words []string, most int) (ticks plot.ConstantTicks) {
	for i, word := range words {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: clipped(word, most)})
	}
	return ticks
}

// upright turns the labels of the ticks of the horizontal axis.
func upright(p *plot.Plot) {
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, draw.XRight, draw.YCenter
}

// quiet is a Ticker without labels.
type quiet struct{ plot.Ticker }

func (q quiet) Ticks(low, high float64) []plot.Tick {
	return lists.Map(q.Ticker.Ticks(low, high), func(t plot.Tick) plot.Tick { return plot.Tick{Value: t.Value} })
}

// bins divides the numbers of a variable, each of whose sources has weights. The first and the last bin also hold the
// farthest half percent of the numbers.
func (v variable) bins() binning {
	all := slices.Sorted(slices.Values(slices.Concat(v.of...)))
	low, high := stat.Quantile(0.005, stat.Empirical, all, nil), stat.Quantile(0.995, stat.Empirical, all, nil)
	whole := !slices.ContainsFunc(all, func(x float64) bool { return x != math.Trunc(x) })
	switch {
	case whole && high-low < 30:
		return binning{low - 0.5, 1, int(high-low) + 1}
	case low == high:
		return binning{low - 0.5, 1, 1}
	}
	return binning{low, (high - low) / 24, 24}
}

// addMarginal draws the shares of the words or bins of a variable in data and samples. Words lie side by side on the
// horizontal axis or, if flat is true, below each other from 0 on.
func (v variable) addMarginal(p *plot.Plot, weights []float64, flat bool) {
	b := binning{-0.5, 1, len(v.words)}
	if v.words == nil {
		b = v.bins()
	}
	for k, values := range v.of {
		if values == nil {
			continue
		}
		if k > 0 {
			weights = nil
		}
		outline := plotter.XYs{{X: b.low}}
		for i, share := range b.shares(values, weights) {
			left, right := b.low+float64(i)*b.width, b.low+float64(i+1)*b.width
			if v.words != nil { // a bar of its own for each source
				left += 0.1 + 0.4*float64(k)
				right = left + 0.4
				outline = append(outline, plotter.XY{X: left}, plotter.XY{X: left, Y: share}, plotter.XY{X: right, Y: share}, plotter.XY{X: right})
				continue
			}
			outline = append(outline, plotter.XY{X: left, Y: share}, plotter.XY{X: right, Y: share})
		}
		outline = append(outline, plotter.XY{X: b.low + float64(b.n)*b.width})
		for i, at := range outline {
			if flat {
				outline[i] = plotter.XY{X: at.Y, Y: -at.X}
			}
		}
		p.Add(area(outline, k))
	}
}

// shares returns the shares of the rows in each bin. Rows have weights with the mean 1, or nil.
func (b binning) shares(values, weights []float64) []float64 {
	shares := make([]float64, b.n)
	for r, x := range values {
		w := 1.0
		if weights != nil {
			w = weights[r]
		}
		shares[min(max(int((x-b.low)/b.width), 0), b.n-1)] += w / float64(len(values))
	}
	return shares
}

// addSources adds data and samples to the legend, if they are drawn.
func (f *Figure) addSources(all []variable) {
	for k, name := range sourceNames {
		if all[0].of[k] != nil {
			f.legend.addArea(name+", "+names.Count(len(all[0].of[k]), "row"), paletteColor(k))
		}
	}
}

// grid returns a figure of panels with a number of columns, each panel with a size in inches.
func grid(columns int, width, height float64, panels []*plot.Plot) *Figure {
	f := newFigure(panels...)
	f.columns = min(columns, len(panels))
	f.width, f.height = max(singleWidth, vg.Length(width)*vg.Inch*vg.Length(f.columns)), vg.Length(height)*vg.Inch*vg.Length(f.down())
	return f
}

// among returns " (n of all)" with a plural if n is less than all.
func among(n, all int, what string) string {
	if n >= all {
		return ""
	}
	return fmt.Sprintf(" (%d of %d %s)", n, all, what)
}

func marginals(all []variable, weights []float64) *Figure {
	shown := all[:min(len(all), mostMarginals)]
	var panels []*plot.Plot
	for _, v := range shown {
		p := newPanel(clipped(v.name, 30), "")
		p.Y.Tick.Marker, p.X.Tick.Marker = linearTicks{few: true}, linearTicks{few: true}
		v.addMarginal(p, weights, v.words != nil)
		p.Y.Min = min(p.Y.Min, 0)
		if v.words != nil {
			ticks := wordTicks(v.words, 14)
			for i := range ticks {
				ticks[i].Value *= -1
			}
			p.Y.Tick.Marker, p.X.Min = ticks, 0
		}
		panels = append(panels, p)
	}
	f := grid(4, 2.5, 1.9, panels).Title("Columns of data and samples: shares of the rows" + among(len(shown), len(all), "columns"))
	f.addSources(all)
	if slices.ContainsFunc(shown, func(v variable) bool { return v.words == nil }) {
		f.legend.add("the bins at the ends also hold farther numbers")
	}
	return f
}

// correlations holds the correlations of indicators of variables: of numbers, of the second of two words, and of each of
// more words.
type correlations struct {
	names []string
	group []int         // the variable of each indicator
	of    [2]*mat.Dense // by source, or nil without rows
}

func correlationsOf(all []variable, weights []float64) (c correlations) {
	var columns [2][][]float64
	for i, v := range all {
		words := v.words
		if len(words) == 2 {
			words = words[1:]
		}
		for k, name := range indicators(v.name, words) {
			c.names, c.group = append(c.names, name), append(c.group, i)
			for source, values := range v.of {
				column := slices.Clone(values)
				for r, code := range values {
					if words != nil {
						column[r] = 0
						if int(code) == k+len(v.words)-len(words) {
							column[r] = 1
						}
					}
				}
				columns[source] = append(columns[source], column)
			}
		}
	}
	n := len(c.names)
	for source, list := range columns {
		if list[0] == nil {
			continue
		}
		if source > 0 {
			weights = nil
		}
		c.of[source] = mat.NewDense(n, n, nil)
		for i := range n {
			for j := range i + 1 {
				r := stat.Correlation(list[i], list[j], weights)
				c.of[source].Set(i, j, r)
				c.of[source].Set(j, i, r)
			}
		}
	}
	return c
}

// strengths returns the largest correlation of each indicator with an indicator of another variable, without its sign.
func (c correlations) strengths() []float64 {
	of := cmp.Or(c.of[0], c.of[1])
	all := make([]float64, len(c.names))
	for i := range all {
		for j := range all {
			if r := math.Abs(of.At(i, j)); c.group[i] != c.group[j] && r > all[i] {
				all[i] = r
			}
		}
	}
	return all
}

// largest returns the indices of the n largest values, in ascending order.
func largest(values []float64, n int) []int {
	order := make([]int, len(values))
	floats.Argsort(slices.Clone(values), order)
	return slices.Sorted(slices.Values(order[max(0, len(order)-n):]))
}

func (c correlations) figure() *Figure {
	shown := largest(c.strengths(), mostUnits)
	var panels []*plot.Plot
	names := lists.Map(shown, func(i int) string { return c.names[i] })
	for k, of := range c.of {
		if of == nil {
			continue
		}
		m := matrix{most: 1}
		for _, i := range shown {
			row := lists.Map(shown, func(j int) float64 { return of.At(i, j) })
			m.values = append(m.values, row)
		}
		panels = append(panels, m.panel(sourceNames[k], names, names))
	}
	return matrices(panels, 1).Title("Correlations of columns in data and samples" + among(len(shown), len(c.names), "columns and words") + ", without a colour at 0")
}

func pairs(all []variable, c correlations, weights []float64) *Figure {
	strengths := make([]float64, len(all))
	for i, r := range c.strengths() {
		strengths[c.group[i]] = max(strengths[c.group[i]], r)
	}
	var panels []*plot.Plot
	shown := largest(strengths, mostPairs)
	for i, row := range shown {
		for j, column := range shown {
			x, y, p := all[column], all[row], newPanel("", "")
			p.X.Tick.Marker, p.Y.Tick.Marker = x.ticks(), y.ticks()
			k := 0 // data below the diagonal
			switch {
			case i == j:
				x.addMarginal(p, weights, false)
				p.Y.Tick.Marker = quiet{linearTicks{few: true}}
			default:
				if i < j {
					k = 1
				}
				var points plotter.XYs
				for r := range min(500, len(x.of[k])) {
					points = append(points, plotter.XY{X: x.jittered(k, r, 0.618), Y: y.jittered(k, r, 0.755)})
				}
				p.Add(&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: translucent(paletteColor(k)), Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}})
			}
			p.X.Min, p.X.Max = x.limits()
			if i != j {
				p.Y.Min, p.Y.Max = y.limits()
			}
			if upright(p); x.words == nil {
				p.X.Tick.Label = p.Y.Tick.Label
				p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
			}
			if p.X.Label.Text = clipped(x.name, 22); i < len(shown)-1 {
				p.X.Label.Text, p.X.Tick.Marker = "", quiet{p.X.Tick.Marker}
			}
			if p.Y.Label.Text = clipped(y.name, 22); j > 0 {
				p.Y.Label.Text, p.Y.Tick.Marker = "", quiet{p.Y.Tick.Marker}
			}
			panels = append(panels, p)
		}
	}
	f := grid(len(shown), 2, 1.7, panels).Title("Pairs of columns: data below the diagonal, samples above" + among(len(shown), len(all), "columns"))
	f.addSources(all)
	return f
}

func (v variable) ticks() plot.Ticker {
	if v.words != nil {
		return wordTicks(v.words, 9)
	}
	return linearTicks{few: true}
}

// jittered returns a value of a source. Places of words move by up to 0.3, so that equal ones do not hide each other.
func (v variable) jittered(source, row int, step float64) float64 {
	x := v.of[source][row]
	if v.words != nil {
		_, fraction := math.Modf(float64(row+1) * step)
		x += 0.6 * (fraction - 0.5)
	}
	return x
}

// limits returns a range with nearly all values of data and samples.
func (v variable) limits() (low, high float64) {
	if v.words != nil {
		return -0.5, float64(len(v.words)) - 0.5
	}
	b := v.bins()
	pad := 0.05 * float64(b.n) * b.width
	return b.low - pad, b.low + float64(b.n)*b.width + pad
}

// matrix is a plotter that draws numbers of both signs as cells of unit size, with the first row at the top. The colour tells the
// sign, and its opacity the distance from 0. NaN has no cell.
type matrix struct {
	values [][]float64
	most   float64 // the largest distance from 0
}

func (m matrix) color(v float64) color.NRGBA {
	c := paletteColor(0)
	if v < 0 {
		c = paletteColor(1)
	}
	c.A = uint8(math.Round(255 * min(1, math.Abs(v)/m.most)))
	return c
}

func (m matrix) DataRange() (xmin, xmax, ymin, ymax float64) {
	return -0.5, float64(len(m.values[0])) - 0.5, 0.5 - float64(len(m.values)), 0.5
}

func (m matrix) Plot(c draw.Canvas, p *plot.Plot) {
	c.FillPolygon(white, corners(c.Rectangle)) // over the grid
	x, y := p.Transforms(&c)
	for i, row := range m.values {
		for j, v := range row {
			if !math.IsNaN(v) && v != 0 {
				c.FillPolygon(m.color(v), corners(vg.Rectangle{
					Min: vg.Point{X: x(float64(j) - 0.5), Y: y(-float64(i) - 0.5)}, Max: vg.Point{X: x(float64(j) + 0.5), Y: y(-float64(i) + 0.5)},
				}))
			}
		}
	}
}

// cellSide is the least side of a cell of a matrix.
const cellSide = vg.Length(11)

// panel draws the matrix with names of its columns and rows.
func (m matrix) panel(x string, columns, rows []string) *plot.Plot {
	p := newPanel(x, "")
	across, down := wordTicks(columns, 30), wordTicks(rows, 30)
	for i := range down {
		down[i].Value *= -1
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = across, down
	p.X.Tick.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	upright(p)
	p.Add(m)
	return p
}

// matrices returns a figure of panels of matrices with a common scale.
func matrices(panels []*plot.Plot, most float64) *Figure {
	f, across, down := newFigure(panels...), panels[0].X, panels[0].Y
	room := func(axis plot.Axis) vg.Length { return widest(axis.Tick.Marker.Ticks(0, 0)) + vg.Inch/2 }
	f.width = max(f.width, vg.Length(len(panels))*(room(down)+vg.Length(across.Max-across.Min)*cellSide))
	f.height = max(f.height, room(across)+vg.Length(down.Max-down.Min)*cellSide)
	for _, v := range []float64{-most, -most / 2, most / 2, most} {
		f.legend.add(significant(v, 2), swatch{matrix{most: most}.color(v)})
	}
	return f
}

// swatch fills the place of a line in a legend with a colour.
type swatch struct{ color color.NRGBA }

func (s swatch) Thumbnail(c *draw.Canvas) { c.FillPolygon(s.color, corners(c.Rectangle)) }

// unitNames returns a name for each visible unit: of its column, with its word if it stands for one.
func unitNames(columns []dataset.Column) (all []string) {
	for _, c := range columns {
		words := wordsOf(c)
		if len(words) == 2 && c.Units == 1 && !c.Rest {
			words = words[1:]
		}
		all = append(all, indicators(c.Name, words)[:c.Units]...)
	}
	return all
}

// weightsOf returns the weights of each hidden unit to the visible units, and what they are.
func weightsOf(ctx context.Context, model any) (all [][]float64, what string, err error) {
	switch of := model.(type) {
	case *hm.Model:
		a, layer := of.Architecture(), of.Parameters().Generative[0]
		if len(a.Convolutions) > 0 || len(a.Tanh) > 0 {
			return nil, "", errors.New("the hidden units have no weights to single columns, because of convolutions or tanh layers")
		}
		all = make([][]float64, layer.Width-1)
		for j, deviation := range a.Deviations(0, layer.Units) {
			for h := range all {
				if !deviation {
					all[h] = append(all[h], float64(layer.Row(j)[h+1]))
				}
			}
		}
		return all, "generative weights", nil
	case interface{ Loadings() *mat.Dense }:
		loadings := of.Loadings()
		_, factors := loadings.Dims()
		for k := range factors {
			all = append(all, mat.Col(nil, k, loadings))
		}
		return all, "loadings", nil
	case interface{ HiddenWeights() [][]float64 }:
		return of.HiddenWeights(), "weights", nil
	case runs.Sampler:
		for _, d := range of.Drawings() {
			if d.Kind != "filters" {
				continue
			}
			sheets, err := d.Draw(ctx, runs.Sampling{N: mostUnits})
			if err != nil {
				return nil, "", err
			}
			for _, unit := range sheets[0].Values {
				floats.AddConst(-0.5, unit)
				floats.Scale(2, unit)
			}
			return sheets[0].Values, "weights as shares of the unit's largest", nil
		}
	}
	return nil, "", errors.New("the model has no hidden units with weights")
}

func weightsFigure(ctx context.Context, columns []dataset.Column, model any) (*Figure, error) {
	all, what, err := weightsOf(ctx, model)
	if err != nil {
		return nil, err
	}
	units := unitNames(columns)
	if len(all[0]) != len(units) {
		return nil, fmt.Errorf("a hidden unit has %d weights for %d units of columns", len(all[0]), len(units))
	}
	most := 0.0
	ofUnit, ofHidden := make([]float64, len(units)), make([]float64, len(all))
	for h, weights := range all {
		for i, w := range weights {
			ofUnit[i], ofHidden[h], most = max(ofUnit[i], math.Abs(w)), max(ofHidden[h], math.Abs(w)), max(most, math.Abs(w))
		}
	}
	m := matrix{most: cmp.Or(most, 1)}
	var across, down []string
	hidden, visible := largest(ofHidden, mostUnits), largest(ofUnit, mostUnits)
	for _, h := range hidden {
		across = append(across, strconv.Itoa(h+1))
	}
	for _, i := range visible {
		row := lists.Map(hidden, func(h int) float64 { return all[h][i] })
		down, m.values = append(down, units[i]), append(m.values, row)
	}
	f := matrices([]*plot.Plot{m.panel("hidden unit"+among(len(hidden), len(all), "units"), across, down)}, m.most)
	return f.Title("Hidden units: " + what + among(len(down), len(units), "columns and words")), nil
}

// explained holds the distributions of the columns in rows given the other columns, and the fields of the rows.
type explained struct {
	set          *dataset.Set
	rows         dataset.Split
	columns      []dataset.Column
	of           [][]runs.Conditional
	own, typical [][]string // the fields of the rows, and the most probable ones
	all          []variable // values in the rows, and the most probable values
	what         string
}

func explain(ctx context.Context, run *runs.Run, model any, set *dataset.Set, rows dataset.Split) (e explained, err error) {
	e.set, e.rows = set, rows
	if e.columns, e.of, e.what, err = run.Why(ctx, model, runs.EvaluationOptions{Set: set, Rows: rows, Seed: 1}); err != nil {
		return e, err
	}
	e.own, e.typical, err = runs.TypicalFields(set, rows, e.columns, e.of)
	e.all = variablesOf(e.columns, e.own, e.typical)
	return e, err
}

// places returns names of rows: their numbers in the file of the set, if it has them.
func (e explained) places(indices []int) (all []string) {
	var file dataset.Split
	path := e.set.Spec().Name
	if test := e.set.Spec().Test; test != "" && e.rows.Name == "test" {
		path = test
	}
	if e.set.Spec().IsFile() && !e.set.MadeFromRows() {
		file, _ = e.set.ReadRows(path) // else the rows have no numbers
	}
	for _, row := range e.rows.Floats(indices...) {
		name := "a row"
		for r := range file.Rows {
			if file.Mask(r) == nil && slices.Equal(file.Floats(r)[0], row) {
				name = fmt.Sprintf("row %d of %s", r+1, clipped(filepath.Base(path), 20))
				break
			}
		}
		all = append(all, name)
	}
	return all
}

// number returns the number of the file for a value of the unit of a column.
func (e explained) number(column int, unit float64) float64 {
	row := make([]float64, e.set.Shape().Units())
	row[e.columns[column].First] = unit
	return e.set.Original(dataset.Sheet{Shape: e.set.Shape(), Values: [][]float64{row}}).Values[0][e.columns[column].First] * cmp.Or(e.set.Spec().Largest, 1)
}

// imputed draws the distributions of fields as if they were missing, one at a time, beside their values, in the order of these.
func (e explained) imputed() *Figure {
	var panels []*plot.Plot
	within, numbers, likely, words := 0, 0, 0, 0
	for i, v := range e.all[:min(len(e.all), mostImputed)] {
		shown := min(12, e.rows.Rows)
		p, order := newPanel(clipped(v.name, 30), ""), make([]int, shown)
		p.X.Tick.Marker, p.Y.Tick.Marker = quiet{linearTicks{integers: true, few: true}}, v.ticks()
		floats.Argsort(slices.Clone(v.of[0][:shown]), order)
		actual := marked(draw.RingGlyph{}, 0)
		for place, r := range order {
			x, was, of := float64(place+1), v.of[0][r], e.of[r][i]
			actual.XYs = append(actual.XYs, plotter.XY{X: x, Y: was})
			if v.words == nil {
				at := func(q float64) float64 { return e.number(i, of.Quantile(q)) }
				p.Add(bar{x, at(0.05), at(0.95), spreadStyle(paletteColor(1))}, dots(paletteColor(1), 2, plotter.XY{X: x, Y: at(0.5)}))
				if numbers++; at(0.05) <= was && was <= at(0.95) {
					within++
				}
				continue
			}
			for code, log := range of.Logs {
				y, merged := float64(code), len(of.Logs) != len(v.words)
				if merged { // of which only the most probable word is drawn
					y, log = v.of[1][r], floats.Max(of.Logs)
				}
				if radius := 4.5 * math.Exp(log/2); radius > 0.5 && (!merged || code == 0) {
					p.Add(dots(paletteColor(1), vg.Length(radius), plotter.XY{X: x, Y: y}))
				}
			}
			if words++; v.of[1][r] == was {
				likely++
			}
		}
		p.Add(actual)
		if v.words != nil {
			p.Y.Min, p.Y.Max = v.limits()
		}
		panels = append(panels, p)
	}
	f := grid(3, 3.2, 2, panels).Title(fmt.Sprintf("Fields of %s as the other columns of their rows tell them", names.Count(min(12, e.rows.Rows), e.rows.Name+" row")) + among(len(panels), len(e.all), "columns"))
	f.legend.add("value in the data", marked(draw.RingGlyph{}, 0))
	if numbers > 0 {
		f.legend.add(fmt.Sprintf("90 %% interval and median: %d of %d values are inside", within, numbers), bar{style: spreadStyle(paletteColor(1))})
	}
	if words > 0 {
		f.legend.add(fmt.Sprintf("probability by area: %d of %d values are the most probable", likely, words), marked(draw.CircleGlyph{}, 1))
	}
	return f
}

// reasons draws log p of the columns in the rows with the lowest sums of them.
func (e explained) reasons() *Figure {
	const rows = 3
	sums, odd := make([]float64, len(e.of)), make([]float64, len(e.all))
	for r, list := range e.of {
		for i, c := range list {
			sums[r] += c.Below()
			odd[i] = max(odd[i], c.Below())
		}
	}
	var panels []*plot.Plot
	worst, shown := largest(sums, rows), largest(odd, mostMarginals)
	places := e.places(worst)
	for k, r := range worst {
		p := newPanel(places[k]+": log p of each column (nats)", "")
		p.X.Tick.Marker = linearTicks{few: true}
		best := marked(draw.RingGlyph{}, 0)
		var ticks plot.ConstantTicks
		for place, i := range shown {
			c, y, v := e.of[r][i], -float64(place), e.all[i]
			k := 0
			text := clipped(v.name, 16) + "=" + clipped(e.own[r][i], 10)
			if c.Odd() {
				k, text = 1, text+" ("+clipped(e.typical[r][i], 10)+")"
			}
			p.Add(area(plotter.XYs{{X: 0, Y: y - 0.3}, {X: c.LogP, Y: y - 0.3}, {X: c.LogP, Y: y + 0.3}, {X: 0, Y: y + 0.3}}, k))
			best.XYs = append(best.XYs, plotter.XY{X: floats.Max(c.Logs), Y: y})
			ticks = append(ticks, plot.Tick{Value: y, Label: text})
		}
		p.Add(best)
		p.Y.Tick.Marker = ticks
		panels = append(panels, p)
	}
	f := grid(len(panels), 4, 0.6+0.19*float64(len(shown)), panels).Title(fmt.Sprintf("Odd rows among %s, by column given the others", names.Count(e.rows.Rows, e.rows.Name+" row")) + among(len(shown), len(e.all), "columns"))
	f.legend.addArea("log p of the value", paletteColor(0))
	f.legend.addArea("odd value (typical one)", paletteColor(1))
	f.legend.add("log p of the most probable value", marked(draw.RingGlyph{}, 0))
	f.legend.add("log p: " + e.what)
	return f
}

// area returns an area with its outline in a colour of the palette.
func area(outline plotter.XYs, k int) plot.Plotter {
	c := paletteColor(k)
	return &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: translucent(c), LineStyle: in(c, draw.LineStyle{Width: vg.Points(1)})}
}

// marked returns points with a glyph in a colour of the palette.
func marked(shape draw.GlyphDrawer, k int) *plotter.Scatter {
	return &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: paletteColor(k), Radius: 3.5, Shape: shape}}
}

// dots draws filled circles of a radius.
func dots(c color.NRGBA, radius vg.Length, at ...plotter.XY) plot.Plotter {
	return &plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: c, Radius: radius, Shape: draw.CircleGlyph{}}}
}
