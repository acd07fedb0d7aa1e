package boltzmann

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Kind is the kind of the units of a side. What it says here of visible units holds of hidden ones
// likewise, of which Gaussian ones have the variance 1.
type Kind int

const (
	// Bernoulli units are 0 or 1.
	Bernoulli Kind = iota
	// Gaussian units are real numbers, v_i ~ N(b_i + (Wh)_i, σ_i²), of the energy
	//
	//	E(v,h) = ½ Σ_i (v_i − b_i)²/σ_i² − cᵀh − Σ_ij v_i W_ij h_j/σ_i²
	//
	// (Cho, Ilin and Raiko 2011; Goodfellow et al. 2016, 20.5.1). They stand for grey values,
	// less their means and over their standard deviations in the training rows, those of the
	// run that training starts from, where it does. The variances are learned.
	Gaussian
	// Categorical units are those of variables, as many of each as it has categories:
	// exactly one of them is 1, each with a probability in proportion to e^(b_i + (Wh)_i)
	// (softmax), and the others are 0.
	Categorical
)

var kindNames = names.New("kind of units", "bernoulli", "gaussian", "categorical")

func (k Kind) String() string                { return kindNames.Name(int(k)) }
func (k Kind) MarshalText() ([]byte, error)  { return kindNames.Marshal(int(k)) }
func (k *Kind) UnmarshalText(t []byte) error { return kindNames.Parse((*int)(k), t) }

// aspects are what a kind of units means for data and methods.
type aspects struct {
	units     func(categories int) hiddenUnits
	variances int          // parameters of each visible unit beside its bias
	objective runs.Measure // of machines with such visible units
	// baseline is a factorised model's objective, and line its log p.
	baseline func(train, rows dataset.Split, categories int) runs.Baseline
	line     func(train, rows dataset.Split, categories int) factorized.Line
	// refuses says which binarisations make no states of such units, and remedy what to do then.
	refuses func(dataset.Binarization) bool
	remedy  string
	check   func(rows dataset.Split, categories int) error // refuses rows that are no such states
	// pseudo says whether the pseudo-likelihood can be trained, and tempers whether chains can be
	// tempered and gradients natural.
	pseudo, tempers bool
}

// kinds are the aspects of each kind.
var kinds = [...]aspects{
	Bernoulli: {
		units:     func(int) hiddenUnits { return bernoulli{} },
		objective: pseudoMeasure, baseline: lineBaseline(bernoulliLine), line: bernoulliLine,
		refuses: func(b dataset.Binarization) bool { return b == dataset.Gray },
		remedy:  "Bernoulli units are 0 or 1; use stochastic, where grey values are the probabilities of draws, or fixed, where they are rounded, or make the visible units gaussian",
		check:   func(dataset.Split, int) error { return nil },
		pseudo:  true, tempers: true,
	},
	Gaussian: {
		units:     func(int) hiddenUnits { return gaussian{} },
		variances: 1,
		objective: scoreMeasure, baseline: scoreBaseline, line: func(train, rows dataset.Split, _ int) factorized.Line {
			return factorized.Gaussian(train, rows, grayFloor)
		},
		refuses: func(b dataset.Binarization) bool { return b != dataset.Gray },
		remedy:  "Gaussian units are real numbers; keep the grey values with grey",
		check:   func(dataset.Split, int) error { return nil },
	},
	Categorical: {
		units:     func(categories int) hiddenUnits { return categorical{each: categories} },
		objective: pseudoMeasure, baseline: lineBaseline(factorized.Categorical), line: factorized.Categorical,
		refuses: func(b dataset.Binarization) bool { return b != dataset.Fixed },
		remedy:  "of the categorical units of a variable one is 1; use fixed",
		check:   checkVariables,
		tempers: true,
	},
}

// aspects returns those of a kind; a kind without a name has those of Bernoulli units until it is refused.
func (k Kind) aspects() *aspects {
	if k < 0 || int(k) >= len(kinds) {
		k = Bernoulli
	}
	return &kinds[k]
}

func bernoulliLine(train, rows dataset.Split, _ int) factorized.Line {
	return factorized.Bernoulli(train, rows)
}

// lineBaseline is log p(x) of a factorised model: its pseudo-likelihood, too.
func lineBaseline(line func(train, rows dataset.Split, categories int) factorized.Line) func(train, rows dataset.Split, categories int) runs.Baseline {
	return func(train, rows dataset.Split, categories int) runs.Baseline {
		l := line(train, rows, categories)
		return runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: l.LogP, SE: l.SE}, Limit: l.Limit}
	}
}

// checkVariables refuses rows that are not of variables of so many categories.
func checkVariables(rows dataset.Split, categories int) error {
	for r := range rows.Rows {
		row := rows.Row(r)
		for g := 0; g < len(row); g += categories {
			on := 0
			for _, value := range row[g : g+categories] {
				on += int(value / 128)
			}
			if on != 1 {
				return fmt.Errorf("%d of the values %d to %d of row %d of %s are 1: of the units of a categorical variable of %d categories exactly one is; give other categories, or make the visible units bernoulli",
					on, g+1, g+categories, r+1, rows.Name, categories)
			}
		}
	}
	return nil
}

// data are the units of rows, if they are discrete.
func (s MachineSpec) data() (of discrete, is bool) {
	of, is = s.Visible.aspects().units(s.Categories).(discrete)
	return of, is
}

// checkCategories refuses categories that the units of a side do not have.
func (k Kind) checkCategories(categories, units int, setting, side string) error {
	switch has := k == Categorical; {
	case has && (categories < 2 || units%categories != 0):
		return fmt.Errorf("%s = %d of categorical %s units: give at least 2, a divisor of the %d units", setting, categories, side, units)
	case !has && categories != 0:
		return fmt.Errorf("%s = %d of %v %s units: only categorical ones have categories; leave them out", setting, categories, k, side)
	}
	return nil
}

// checkMethod refuses methods that there are not for a kind of units of a side.
func (k Kind) checkMethod(s MethodSpec, side string) error {
	switch can := k.aspects(); {
	case s.Algorithm == PseudoLikelihood && !can.pseudo:
		return fmt.Errorf("algorithm = pl with %v %s units: the pseudo-likelihood that is trained is of Bernoulli units; use pcd", k, side)
	case s.Algorithm == Tempered && !can.tempers:
		return fmt.Errorf("algorithm = pt with %v %s units: parallel tempering is of Bernoulli and categorical units; use pcd", k, side)
	case s.Metric != Euclidean && !can.tempers:
		return fmt.Errorf("metric = %v with %v %s units: natural gradients are of Bernoulli and categorical units; leave it out", s.Metric, k, side)
	}
	return nil
}
