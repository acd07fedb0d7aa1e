package gpu

import (
	"os"
	"regexp"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// The table of docs/gpu.md must have a row for each feature of package engine, with no for those that the engine refuses
// and yes for the others.
func TestManualSaysWhatIsRefused(t *testing.T) {
	features := matches(t, "../hm/engine/unsupported.go", `Feature = "(.+)"`)
	rows := matches(t, "../docs/gpu.md", `(?m)^\| (.+?) \| ((?:yes|no).*) \|$`)
	said := map[string]string{}
	for _, row := range rows {
		said[row[1]] = row[2]
	}
	if len(rows) != len(features) || len(features) == 0 {
		t.Errorf("the table has %d rows, but there are %d features", len(rows), len(features))
	}
	for _, feature := range features {
		want := "yes"
		if engine.Feature(feature[1]).In(lacks) {
			want = "no"
		}
		if got := regexp.MustCompile(`^\w*`).FindString(said[feature[1]]); got != want {
			t.Errorf("the table says %q of %s, want %s", got, feature[1], want)
		}
	}
}

func matches(t *testing.T, file, pattern string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
}
