package dataset

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestSpecSurvivesTOMLAndJSON(t *testing.T) {
	for _, spec := range []Spec{
		{Name: "mnist"},
		{Name: "mnist", Validation: new(0), Binarization: Stochastic},
		{Name: "own.npy", Test: "test.npy", Validation: new(17), Subset: 5, Seed: 1 << 40},
	} {
		var text bytes.Buffer
		if err := toml.NewEncoder(&text).Encode(spec); err != nil {
			t.Fatal(err)
		}
		var back Spec
		if _, err := toml.Decode(text.String(), &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, spec) {
			t.Errorf("TOML\n%sgives %+v, want %+v", text.String(), back, spec)
		}

		object, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		back = Spec{}
		if err := json.Unmarshal(object, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, spec) {
			t.Errorf("JSON %s gives %+v, want %+v", object, back, spec)
		}
	}
}

func TestSpecWritesOnlyWhatIsSet(t *testing.T) {
	object, err := json.Marshal(Spec{Name: "mnist"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"name":"mnist","binarization":"fixed","seed":0}`; string(object) != want {
		t.Errorf("%s, want %s", object, want)
	}
	if _, err := toml.Decode(`binarization = "soft"`, new(Spec)); err == nil || !strings.Contains(err.Error(), `"soft"`) {
		t.Errorf("an unknown binarization gives %v", err)
	}
}

func TestMisuseOfSpecIsRefused(t *testing.T) {
	t.Setenv(Environment, t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		spec Spec
		want []string
	}{
		{Spec{}, []string{"without a name"}},
		{Spec{Name: "3by3", Validation: new(-1)}, []string{"3by3", "validation = -1"}},
		{Spec{Name: "3by3", Subset: -4}, []string{"3by3", "subset = -4"}},
		{Spec{Name: "3by3", Binarization: 7}, []string{"3by3", "binarization 7", "none of Fixed, Stochastic, Gray, Drawn and Real"}},
		{Spec{Name: "3by3", Test: "rows.npy"}, []string{"3by3", `test = "rows.npy"`}},
		{Spec{Name: "mnits"}, []string{"mnits", "glyphs, miniglyphs, taggedglyphs, fontglyphs, 3by3, mnist"}},
		{Spec{Name: "uci/iris"}, []string{"uci/iris"}},
	} {
		_, err := c.spec.Open()
		wantError(t, err, c.want...)
	}
	_, err := FromRows("", Shape{1, 1}, [][]float64{{0}, {1}}, nil)
	wantError(t, err, "rows without a name", "give them one")
}

func TestSetKeepsItsSpec(t *testing.T) {
	n := 100
	s, err := Spec{Name: "3by3", Validation: &n, Seed: 4}.Open()
	if err != nil {
		t.Fatal(err)
	}
	n = 200
	*s.Spec().Validation = 300
	if got := *s.Spec().Validation; got != 100 {
		t.Errorf("the Spec of an open set changed to validation = %d", got)
	}
	again, err := s.Spec().Open()
	if err != nil {
		t.Fatal(err)
	}
	if again.Fingerprint() != s.Fingerprint() {
		t.Error("opening the Spec of a set gives another set")
	}
}
