package runs_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Whatever texts a table has, its HTML is well formed and shows them.
func TestTableAsHTML(t *testing.T) {
	table := runs.NewTable("x", "a <b> & c", runs.Column{Key: "name"}, runs.Column{Key: "value", Unit: "nats", Kind: runs.Number, Decimals: 2})
	table.Add(`</td><script>alert("1")</script>`, -1.5)
	table.Add(nil, nil)
	var b strings.Builder
	if err := table.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Caption struct {
			Text string `xml:"b"`
		} `xml:"caption"`
		Rows []struct {
			Heads []string `xml:"th"`
			Cells []string `xml:"td"`
		} `xml:"tr"`
	}
	if err := xml.Unmarshal([]byte(b.String()), &parsed); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	var cells []string
	for _, row := range parsed.Rows {
		cells = append(append(cells, row.Heads...), row.Cells...)
	}
	if got, want := parsed.Caption.Text+"|"+strings.Join(cells, "|"), `a <b> & c|name|value (nats)|</td><script>alert("1")</script>|-1.50|–|–`; got != want {
		t.Errorf("shown is %q, not %q", got, want)
	}
}

// The texts of a run, its history and its settings describe them.
func TestRunsSayWhatTheyAre(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	run := mustTrain(t, brief(set), set, dir)
	if got := run.String(); !strings.HasPrefix(got, dir+": 3 components, η = 0.5, seed 5, on ") || !strings.Contains(got, "4 of 4 epochs, finished; log p") {
		t.Errorf("the run says %q", got)
	}
	if got := run.History().String(); strings.Count(got, "\n") != 2+1+4 {
		t.Errorf("the history says %q, want a title, a line of labels and one an epoch", got)
	}
	if got := runs.SettingsTable(run.Experiment()).String(); !strings.Contains(got, "\ndataset.name") || !strings.Contains(got, "\nseed          ") {
		t.Errorf("the settings are %s", got)
	}
}
