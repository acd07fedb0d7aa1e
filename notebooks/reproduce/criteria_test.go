package reproduce

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
)

func TestUnknownKeysAreRefused(t *testing.T) {
	_, err := ParseCriteria("criteria.toml", []byte("[[result]]\nid = \"varady/fig5.4\"\nplaze = \"p. 72\"\n"))
	if err == nil || !strings.Contains(err.Error(), "result.plaze") {
		t.Errorf("got %v", err)
	}
}

// FuzzParseCriteria checks that parsed results can be written and read again unchanged.
func FuzzParseCriteria(f *testing.F) {
	f.Add([]byte("[[result]]\nid = \"varady/fig5.4\"\n[[result.number]]\nof = \"x\"\npublished = -nan\ntolerance = 1e-3\n[[result.claim]]\nsays = \"y\"\n"))
	f.Add([]byte("result = [{id = 'a'}, {}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var results []Result
		var err error
		fuzz.Bounded(t, len(data), func() { results, err = ParseCriteria("criteria.toml", data) })
		if err != nil {
			return
		}
		written, err := toml.Marshal(map[string][]Result{"result": results})
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseCriteria("criteria.toml", written)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(results, again, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("(-read +written and read again):\n%s", diff)
		}
	})
}
