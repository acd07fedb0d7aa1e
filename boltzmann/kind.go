package boltzmann

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Kind is the kind of the units on one side. The comments below describe visible units. Hidden units behave
// in the same way, except that Gaussian hidden units always have variance 1.
type Kind int

const (
	// Bernoulli units are 0 or 1.
	Bernoulli Kind = iota
	// Gaussian units are real numbers, v_i ~ N(b_i + (Wh)_i, σ_i²), with the energy
	//
	//	E(v,h) = ½ Σ_i (v_i − b_i)²/σ_i² − cᵀh − Σ_ij v_i W_ij h_j/σ_i²
	//
	// (Cho, Ilin and Raiko 2011; Goodfellow et al. 2016, 20.5.1). They represent grey values or real numbers,
	// standardised by their means and standard deviations in the training rows. If training starts from a run,
	// it keeps the standardisation of that run. The variances are learned.
	Gaussian
	// Categorical units belong to variables. A variable has one unit for each category. Exactly one of its units
	// is 1, with probability proportional to e^(b_i + (Wh)_i) (softmax), and its other units are 0.
	Categorical
)

var kindNames = names.New("kind of units", "bernoulli", "gaussian", "categorical")

func (k Kind) String() string                { return kindNames.Name(int(k)) }
func (k Kind) MarshalText() ([]byte, error)  { return kindNames.Marshal(int(k)) }
func (k *Kind) UnmarshalText(t []byte) error { return kindNames.Parse((*int)(k), t) }

// aspects describes how a kind of units affects data and methods.
type aspects struct {
	units     func(categories int) hiddenUnits
	variances int          // number of variances of each visible unit
	objective runs.Measure // for machines with these visible units
	// logP returns log p under a factorised model. score, if not nil, returns the baseline of an objective that
	// is not log p.
	logP  func(train, rows dataset.Split, categories int) runs.Baseline
	score func(train, rows dataset.Split) runs.Baseline
	// reads lists the binarisations that yield states of these units. remedy explains them in the error for
	// other binarisations.
	reads  []dataset.Binarization
	remedy string
	// pseudo reports whether pl, rm and mp can train these units. tempers reports whether they allow parallel tempering and
	// natural gradients.
	pseudo, tempers bool
}

// kinds holds the aspects of each kind.
var kinds = [...]aspects{
	Bernoulli: {
		units:     func(int) hiddenUnits { return bernoulli{} },
		objective: runs.PseudoLikelihood,
		logP:      func(train, rows dataset.Split, _ int) runs.Baseline { return factorized.Bernoulli(train, rows) },
		reads:     []dataset.Binarization{dataset.Fixed, dataset.Drawn, dataset.Stochastic},
		remedy:    "Bernoulli units are 0 or 1; use stochastic, where grey values are the probabilities of draws, or fixed, where they are rounded, or make the visible units gaussian",
		pseudo:    true, tempers: true,
	},
	Gaussian: {
		units:     func(int) hiddenUnits { return gaussian{} },
		variances: 1,
		objective: runs.Score,
		logP: func(train, rows dataset.Split, _ int) runs.Baseline {
			return factorized.Gaussian(train, rows, grayFloor, true)
		},
		score:  scoreBaseline,
		reads:  []dataset.Binarization{dataset.Gray, dataset.Real},
		remedy: "Gaussian units are real numbers; keep the grey values with grey, or real numbers with real",
	},
	Categorical: {
		units:     func(categories int) hiddenUnits { return categorical{each: categories} },
		objective: runs.PseudoLikelihood,
		logP: func(train, rows dataset.Split, categories int) runs.Baseline {
			variables := train.Shape.Units() / categories
			return factorized.Categorical(train, rows, slices.Repeat([]factorized.Variable{{Units: categories}}, variables))
		},
		reads:   []dataset.Binarization{dataset.Fixed},
		remedy:  "exactly one categorical unit of a variable is 1; use fixed",
		tempers: true,
	},
}

// aspects returns the aspects of a kind. An invalid kind gets the aspects of Bernoulli units until Check
// refuses it.
func (k Kind) aspects() *aspects {
	if k < 0 || int(k) >= len(kinds) {
		k = Bernoulli
	}
	return &kinds[k]
}

// baseline returns the baseline of the objective. The pseudo-likelihood of a factorised model is its log p(x).
func (s MachineSpec) baseline(train, rows dataset.Split) runs.Baseline {
	of := s.Visible.aspects()
	if of.score != nil {
		return of.score(train, rows)
	}
	return of.logP(train, rows, s.Categories)
}

// data returns the visible units if they are discrete, and reports whether they are.
func (s MachineSpec) data() (of discrete, is bool) {
	of, is = s.Visible.aspects().units(s.Categories).(discrete)
	return of, is
}

// checkCategories refuses a number of categories that does not fit the units of a side.
func (k Kind) checkCategories(categories, units int, setting, side string) error {
	switch has := k == Categorical; {
	case has && (categories < 2 || units%categories != 0):
		return fmt.Errorf("%s = %d of categorical %s units: give at least 2, a divisor of the %d units", setting, categories, side, units)
	case has && units/categories > mostCounters:
		return fmt.Errorf("%d categorical %s variables: give at most %d", units/categories, side, mostCounters)
	case !has && categories != 0:
		return fmt.Errorf("%s = %d of %v %s units: only categorical ones have categories; leave them out", setting, categories, k, side)
	}
	return nil
}

// checkMethod refuses a method that cannot train this kind of units on a side.
func (k Kind) checkMethod(s MethodSpec, side string) error {
	switch can := k.aspects(); {
	case s.Spins && k != Bernoulli:
		return fmt.Errorf("spins with %v %s units: spins stand for Bernoulli units; leave them out", k, side)
	case (s.flips() || s.Algorithm == MultiPrediction) && !can.pseudo:
		return fmt.Errorf("algorithm = %v with %v %s units: pl, rm and mp train only Bernoulli units; use pcd", s.Algorithm, k, side)
	case (s.Algorithm == Tempered || s.Algorithm == Trajectories) && !can.tempers:
		return fmt.Errorf("algorithm = %v with %v %s units: parallel tempering needs Bernoulli or categorical units; use pcd", s.Algorithm, k, side)
	case s.Metric != Euclidean && !can.tempers:
		return fmt.Errorf("metric = %v with %v %s units: natural gradients need Bernoulli or categorical units; leave it out", s.Metric, k, side)
	}
	return nil
}
