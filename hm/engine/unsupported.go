package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Feature is a part of training or sampling that an engine may lack.
type Feature string

// These are the features that an engine may lack. Every engine has everything else.
const (
	ReinforcePhases Feature = "REINFORCE"
	Estimators      Feature = "the estimator" // all estimators; for a single estimator, its name is appended
	ChainedSamples  Feature = "Metropolis chains of the training rows"
	KroneckerMetric Feature = "the Kronecker-factored metric"
	FixedArithmetic Feature = "products in fixed point"
	GaussianUnits   Feature = "Gaussian units"
	GroupedUnits    Feature = "groups of categorical units"
	TanhLayers      Feature = "tanh layers inside conditionals"
	ConvolvedLayers Feature = "convolutional layers"
	LabeledMachines Feature = "machines with labels"
	GibbsChains     Feature = "Gibbs chains and inpainting"
	MissingUnits    Feature = "rows with missing values"
)

// ErrUnsupported matches every Unsupported error: errors.Is(err, ErrUnsupported).
var ErrUnsupported = errors.New("the engine lacks a requested feature")

// Unsupported is returned by an engine that was asked for a feature it lacks. An engine names what
// it lacks, and never computes something else instead.
type Unsupported struct {
	Engine  string // its name in the registry
	Feature Feature
}

func (u *Unsupported) Error() string {
	return fmt.Sprintf("the engine %s lacks %s: choose another engine with HELMHOLTZ_BACKEND=cpu or --backend cpu", u.Engine, u.Feature)
}

// Is reports whether target is ErrUnsupported.
func (u *Unsupported) Is(target error) bool { return target == ErrUnsupported }

// In reports whether features include f. Estimators includes every estimator.
func (f Feature) In(features []Feature) bool {
	return slices.Contains(features, f) || strings.HasPrefix(string(f), string(Estimators)) && slices.Contains(features, Estimators)
}

// Refuse returns an Unsupported error for the first requested feature that the named engine lacks,
// or nil if it lacks none.
func Refuse(name string, lacks, asked []Feature) error {
	for _, f := range asked {
		if f.In(lacks) {
			return &Unsupported{name, f}
		}
	}
	return nil
}

// Features returns the engine features that the machine needs.
func (a Architecture) Features() []Feature {
	var asked []Feature
	for i := range a.Units {
		if !a.Binary(i) {
			asked = append(asked, GaussianUnits)
			break
		}
	}
	if len(a.Groups) > 0 {
		asked = append(asked, GroupedUnits)
	}
	if len(a.Tanh) > 0 {
		asked = append(asked, TanhLayers)
	}
	if slices.ContainsFunc(a.Convolutions, func(c Convolution) bool { return c != (Convolution{}) }) {
		asked = append(asked, ConvolvedLayers)
	}
	if a.Labels() > 0 {
		asked = append(asked, LabeledMachines)
	}
	return asked
}

// Features returns the engine features that the algorithm needs.
func (a Algorithm) Features() []Feature {
	var asked []Feature
	if a.Reinforce {
		asked = append(asked, ReinforcePhases)
	}
	if a.Chains {
		asked = append(asked, ChainedSamples)
	}
	if a.Estimator != nil {
		asked = append(asked, Estimators+" "+Feature(a.Estimator.Name))
	}
	if a.Metric == Kronecker {
		asked = append(asked, KroneckerMetric)
	}
	return append(asked, a.Arithmetic.Features()...)
}

// Features returns the engine features that the arithmetic needs.
func (a Arithmetic) Features() []Feature {
	if a == FixedPoint {
		return []Feature{FixedArithmetic}
	}
	return nil
}
