package enginetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// lacking is an engine that reports to lack features.
type lacking struct {
	engine.Engine
	features []engine.Feature
}

func (l lacking) Lacks() []engine.Feature { return l.features }

// A test may be skipped only if the engine refuses what the test asked for and reports to lack it.
func TestOnlyDeclaredRefusalsAreSkipped(t *testing.T) {
	gaussian, gibbs := []engine.Feature{engine.GaussianUnits}, []engine.Feature{engine.GibbsChains}
	refusal := &engine.Unsupported{Engine: "test", Feature: engine.GaussianUnits}
	for _, c := range []struct {
		what         string
		lacks, asked []engine.Feature
		err          error
		skip, fail   bool
	}{
		{"what it has", nil, gaussian, nil, false, false},
		{"what it has beside what it lacks", gibbs, gaussian, nil, false, false},
		{"what it lacks, refused", gaussian, gaussian, refusal, true, false},
		{"what it lacks among others, refused", gaussian, slices.Concat(gibbs, gaussian), refusal, true, false},
		{"what it lacks, computed", gaussian, gaussian, nil, false, true},
		{"what it has, refused", nil, gaussian, refusal, false, true},
		{"another feature than the one refused", gaussian, gibbs, refusal, false, true},
		{"what it lacks, failed", gaussian, gaussian, errors.New("out of memory"), false, true},
		{"what it lacks, refused without a name", gaussian, gaussian, engine.ErrUnsupported, false, true},
	} {
		skip, err := refused(lacking{features: c.lacks}, c.asked, c.err)
		if skip != c.skip || (err != nil) != c.fail {
			t.Errorf("%s: skipped %v, error %v", c.what, skip, err)
		}
	}
}
