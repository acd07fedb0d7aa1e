package hm

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var someEpochs = []Epoch{
	{Epoch: 1, Step: 6, Seconds: 0.1, LearningRate: 0.2, Train: Measures{-6.1, -7.2, 0.3}},
	{Epoch: 2, Step: 12, Seconds: 0.3, LearningRate: 0.1, Train: Measures{-1.0 / 3, -2.0 / 3, 0.5}, Validation: &Measures{-5, -6, 1}},
	{Epoch: 3, Step: 18, Seconds: 0.4, LearningRate: 0.05, Train: Measures{-4, -5, 0.9}},
}

func TestMetricsAreAppendedAndTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), metricsFile)
	want := func(epochs []Epoch) {
		t.Helper()
		got, err := readMetrics(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(epochs, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
	want(nil)
	for i, e := range someEpochs {
		if err := appendMetrics(path, e); err != nil {
			t.Fatal(err)
		}
		want(someEpochs[:i+1])
	}
	for n := len(someEpochs); n >= 0; n-- {
		if _, err := truncateMetrics(path, n); err != nil {
			t.Fatal(err)
		}
		want(someEpochs[:n])
	}
	_, err := truncateMetrics(path, 1)
	wantError(t, err, path, "holds 0 epochs", "has seen 1", "restore")
}

func TestParseMetricsLeavesOutTheLastLineIfItIsTorn(t *testing.T) {
	line := `{"epoch":1,"step":6,"seconds":0.1,"learning_rate":0.2,"train":{"log_p":-6,"bound":-7,"ess":0.3}}`
	for cut := range line {
		epochs, err := parseMetrics([]byte(line + "\n" + line[:cut]))
		if err != nil || len(epochs) != 1 {
			t.Fatalf("cut after %d bytes: %d epochs, error %v; want the one of the whole line", cut, len(epochs), err)
		}
	}
	_, err := parseMetrics([]byte(line + "\n" + line[:9] + "\n" + line + "\n"))
	wantError(t, err, "line 2")
}

// FuzzParseMetrics checks that what is read can be written and read again.
func FuzzParseMetrics(f *testing.F) {
	f.Add([]byte(`{"epoch":1,"step":6,"seconds":0.1,"learning_rate":0.2,"train":{"log_p":-6,"bound":-7,"ess":0.3},"validation":{"log_p":-6,"bound":-7,"ess":0.3}}` + "\n{\"epo"))
	f.Add([]byte("null\n{}\n"))
	f.Add([]byte(strings.Repeat(" ", 70_000) + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		epochs, err := parseMetrics(b)
		if err != nil {
			return
		}
		var written []byte
		for _, e := range epochs {
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			written = append(append(written, line...), '\n')
		}
		back, err := parseMetrics(written)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(epochs, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-read +written and read again):\n%s", diff)
		}
	})
}
