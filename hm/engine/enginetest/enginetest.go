// Package enginetest is a conformance suite for every engine and every preset. It compares what an
// engine computes with the exact quantities of machines that are small enough to enumerate
// (hm/engine/oracle).
//
// Engines compute in single precision. A function of the samples that an engine has drawn is
// compared with its float64 counterpart to a stated relative error, and a mean over samples within
// maxDeviation standard errors. Seeds are fixed, so a passing engine keeps passing.
package enginetest

import (
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// many returns how many draws or steps a test averages over: n or, under -short, a tenth of it,
// which makes standard errors three times as large. Engines on an emulated device need the smaller
// number.
func many(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// Run tests an engine that lacks only the given features. It skips a test that needs a missing
// feature once the engine has refused the feature, and fails if the engine computes or refuses anything else.
func Run(t *testing.T, e engine.Engine, lacks ...engine.Feature) {
	if is := e.Lacks(); !slices.Equal(slices.Sorted(slices.Values(is)), slices.Sorted(slices.Values(lacks))) {
		t.Fatalf("the engine reports that it lacks %q, its test expects %q", is, lacks)
	}
	for _, theme := range themes {
		t.Run(theme.name, func(t *testing.T) { theme.test(t, e) })
	}
}

// RunOnDraws runs only the tests on the samples that an engine draws. Use it for another arithmetic
// of an engine that passes Run.
func RunOnDraws(t *testing.T, e engine.Engine) {
	for _, theme := range themes {
		switch theme.name {
		case "gradient of the samples", "gradient of other units", "pairs of values", "gradient of labels",
			"divergence", "determinism", "chunks of samples", "binarization":
			t.Run(theme.name, func(t *testing.T) { theme.test(t, e) })
		}
	}
}

type theme struct {
	name string
	test func(*testing.T, engine.Engine)
}

var themes = []theme{
	{"chained samples", chainedSamples},
	{"missing units", missingUnits},
	{"impossible damping", impossibleDamping},
	{"gradient of the samples", gradientOfSamples},
	{"gradient of other units", gradientOfOtherUnits},
	{"draws of steps", drawsOfSteps},
	{"singular blocks", singularBlocks},
	{"steps at once", stepsAtOnce},
	{"sleep-well", sleepWell},
	{"pairs of values", pairsOfValues},
	{"distribution of mixtures", distributionOfMixtures},
	{"gradient of labels", gradientOfLabels},
	{"classification", classification},
	{"learning", learning},
	{"divergence", divergence},
	{"determinism", determinism},
	{"likelihood", likelihood},
	{"chunks of samples", chunksOfSamples},
	{"log Z²", logZ2},
	{"distribution of draws", distributionOfDraws},
	{"means", means},
	{"descents", descents},
	{"Gibbs chains", ofChains(gibbs)},
	{"stationary distribution", ofChains(stationary)},
	{"beginning of chains", ofChains(chainsBegin)},
	{"determinism of chains", ofChains(chainsAreDeterministic)},
	{"cancellation of chains", ofChains(chainsStop)},
	{"binarization", binarization},
	{"cancellation", cancellation},
}
