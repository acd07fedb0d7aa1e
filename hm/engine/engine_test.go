package engine

import (
	"errors"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"slices"
	"strings"
	"testing"
)

type nothing struct{ Engine }

func TestEngineIsOpenedOnceAndWhenItIsWanted(t *testing.T) {
	opened := 0
	Register("test", func() (Engine, error) { opened++; return nothing{}, nil })
	if opened != 0 {
		t.Error("an engine that nobody wants is opened")
	}
	for range 2 {
		if e, err := Open("test"); err != nil || e != (nothing{}) {
			t.Errorf("opened %v, %v", e, err)
		}
	}
	if opened != 1 {
		t.Errorf("the engine was opened %d times", opened)
	}
	if !slices.Contains(Names(), "test") {
		t.Errorf("the engines are %v", Names())
	}
	defer func() {
		if recover() == nil {
			t.Error("a name can be registered twice")
		}
	}()
	Register("test", nil)
}

func TestEnginesThatCannotBeOpened(t *testing.T) {
	missing := errors.New("no device: plug one in")
	tried := 0
	Register("broken", func() (Engine, error) { tried++; return nil, missing })
	for range 2 {
		if e, err := Open("broken"); e != nil || !errors.Is(err, missing) || !strings.Contains(err.Error(), "broken") {
			t.Errorf("opened %v, %v", e, err)
		}
	}
	if tried != 1 {
		t.Errorf("the engine was looked for %d times", tried)
	}
	_, err := Open("absent")
	if err == nil || !strings.Contains(err.Error(), `"absent"`) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("the error of an unknown engine is %v", err)
	}
}

// The refusal of a missing feature must name the engine and the feature.
func TestRefuse(t *testing.T) {
	plain := Architecture{Units: []int{4, 4}, Kinds: []Kind{Bernoulli, Bernoulli}, Convolutions: []Convolution{{}}}
	if asked := slices.Concat(plain.Features(), Algorithm{Metric: Block}.Features()); len(asked) > 0 {
		t.Errorf("a dense machine of Bernoulli units asks for %v", asked)
	}
	mixed := Architecture{Units: []int{4, 4}, Kinds: []Kind{Categorical}, Groups: [][]Group{{{Units: 3}, {Units: 1, Real: true}}}}
	if asked := mixed.Features(); !slices.Equal(asked, []Feature{GaussianUnits, GroupedUnits}) {
		t.Errorf("a machine with a group of real numbers asks for %v", asked)
	}
	for feature, asked := range map[Feature][]Feature{
		GaussianUnits:   Architecture{Units: []int{4, 4}, Kinds: []Kind{Gaussian}}.Features(),
		ConvolvedLayers: Architecture{Units: []int{4, 4}, Convolutions: []Convolution{{Stride: 1}}}.Features(),
		GroupedUnits:    Architecture{Units: []int{4, 4}, Kinds: []Kind{Categorical}, Groups: [][]Group{{{Units: 4}}}}.Features(),
		TanhLayers:      Architecture{Units: []int{4, 4}, Tanh: []int{3}}.Features(),
		LabeledMachines: Architecture{Units: []int{4, 4}, Classes: 3}.Features(),
		ReinforcePhases: Algorithm{Rule: Reinforce}.Features(),
		KroneckerMetric: Algorithm{Metric: Kronecker}.Features(),
		GibbsChains:     {GibbsChains},
	} {
		if !slices.Equal(asked, []Feature{feature}) {
			t.Errorf("%v is asked for, want %s", asked, feature)
		}
		if err := Refuse("test", nil, asked); err != nil {
			t.Errorf("an engine that has everything refuses: %v", err)
		}
		err := Refuse("test", []Feature{feature}, asked)
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "engine test lacks "+string(feature)) {
			t.Errorf("%s is refused with %v", feature, err)
		}
	}
}

// Rows of a part of a part keep the random draws that they have in the whole data.
func TestPartOfAPart(t *testing.T) {
	data := Data{Values: numbers.Bytes(1, []uint8{0, 1, 2, 3, 4, 5})}
	if got := data.Part(2, 4).Part(1, 2); got.First != 3 || got.Rows != 2 || !slices.Equal(got.Bytes(), []uint8{3, 4}) {
		t.Errorf("the part has the rows %d to %d with the values %v, want 3 to 4 with 3 and 4", got.First, got.First+got.Rows-1, got.Values)
	}
}
