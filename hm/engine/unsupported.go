package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Feature is a part of training or of sampling that an engine may lack.
type Feature string

// The features that an engine may lack. What is not among them, every engine
// has.
const (
	ReinforcePhases Feature = "REINFORCE"
	Estimators      Feature = "the estimator" // every Estimator; each one has its name behind these words
	ChainedSamples  Feature = "Metropolis chains of the training rows"
	KroneckerMetric Feature = "the Kronecker-factored metric"
	FixedArithmetic Feature = "products in fixed point"
	GaussianUnits   Feature = "Gaussian units"
	ConvolvedLayers Feature = "convolutional layers"
	LabeledMachines Feature = "machines with labels"
	GibbsChains     Feature = "Gibbs chains and inpainting"
)

// ErrUnsupported is what an Unsupported error is: errors.Is(err, ErrUnsupported).
var ErrUnsupported = errors.New("the engine lacks what was asked of it")

// Unsupported is the error of an engine that was asked for what it lacks. It
// refuses that by name, and never computes something else instead.
type Unsupported struct {
	Engine  string // its name in the registry
	Feature Feature
}

func (u *Unsupported) Error() string {
	return fmt.Sprintf("the engine %s lacks %s: choose another, by HELMHOLTZ_BACKEND=cpu or --backend cpu", u.Engine, u.Feature)
}

// Is reports whether target is ErrUnsupported.
func (u *Unsupported) Is(target error) bool { return target == ErrUnsupported }

// In reports whether features include f. Estimators includes every estimator.
func (f Feature) In(features []Feature) bool {
	return slices.Contains(features, f) || strings.HasPrefix(string(f), string(Estimators)) && slices.Contains(features, Estimators)
}

// Refuse returns the error of an engine, given by its name and by what it lacks,
// that is asked for features; nil where it lacks none of them.
func Refuse(name string, lacks, asked []Feature) error {
	for _, f := range asked {
		if f.In(lacks) {
			return &Unsupported{name, f}
		}
	}
	return nil
}

// Features are those that a machine asks of an engine.
func (a Architecture) Features() []Feature {
	var asked []Feature
	if slices.Contains(a.Kinds, Gaussian) {
		asked = append(asked, GaussianUnits)
	}
	if slices.ContainsFunc(a.Convolutions, func(c Convolution) bool { return c != (Convolution{}) }) {
		asked = append(asked, ConvolvedLayers)
	}
	if a.Labels() > 0 {
		asked = append(asked, LabeledMachines)
	}
	return asked
}

// Features are those that training by the algorithm asks of an engine.
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

// Features are those that an arithmetic asks of an engine.
func (a Arithmetic) Features() []Feature {
	if a == FixedPoint {
		return []Feature{FixedArithmetic}
	}
	return nil
}
