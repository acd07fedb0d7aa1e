package plainjson

import (
	"strings"
	"testing"
)

// Decode refuses text that encoding/json reads as something else, and names the place.
func TestDecode(t *testing.T) {
	for text, says := range map[string]string{
		`{"a": [[[1], null]]}`:                "a[0][1] is null",
		`{"a": [[[1, null]]]}`:                "a[0][0][1] is null",
		`{"a": null}`:                         "a is null",
		`{"a": [], "a": [[[1]]]}`:             `the key "a" stands twice`,
		"{\"\\u0061\": [], \n\"a\": [[[1]]]}": `the key "a" stands twice`,
		`{"A": [[[1]]]}`:                      `unknown key "A" (did you mean "a"?)`,
		`{"a": [], "b": 1}`:                   `unknown key "b"`,
		`{"a": []} {"a": []}`:                 "more after its object",
		`{"a": [[[1e400]]]}`:                  "1e400",
		`{"a": [[[NaN]]]}`:                    "invalid character 'N'",
		`{"a": [[[true]]]}`:                   "bool",
		`{"a": [[[[1]]]]}`:                    "array",
		"null":                                "the text is null",
	} {
		var into struct {
			A [][][]float64 `json:"a"`
		}
		if err := Decode([]byte(text), &into); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", text, err, says)
		}
	}
	for _, text := range []string{`{"a": {"b": 1}, "c": {"b": null}}`, `[{"a": 1}, {"a": 2}]`} {
		if err := Check([]byte(text), true); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := Check([]byte(`[{"c": {"b": 1, "b": 2}}]`), true); err == nil || !strings.Contains(err.Error(), `the key "[0].c.b" stands twice`) {
		t.Errorf("error %v", err)
	}
}
