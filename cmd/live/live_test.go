package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
)

func opened(t *testing.T) *page {
	t.Helper()
	run, err := hm.OpenPretrained(machine)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := run.SaveModel(&file); err != nil {
		t.Fatal(err)
	}
	p, err := load(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// called calls a function as the page does.
func called[Result any](t *testing.T, p *page, name, arguments string) (r Result) {
	t.Helper()
	result, err := calls[name](p, []byte(arguments))
	if err != nil {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
	text, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFillKeepsWhatIsKnown hides the left half of a digit: chains leave the right half as it is, and the same
// seed gives the same chains.
func TestFillKeepsWhatIsKnown(t *testing.T) {
	p := opened(t)
	s := p.shape()
	hidden := make([]bool, s.Width*s.Height)
	for i := range hidden {
		hidden[i] = i%s.Width < s.Width/2
	}
	arguments, err := json.Marshal(fillOptions{Row: 3, Hidden: hidden, Sweeps: 5, Chains: 2, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	f := called[filled](t, p, "fill", string(arguments))
	if again := called[filled](t, p, "fill", string(arguments)); len(f.Chains) != 2 || !slices.Equal(f.Chains[1], again.Chains[1]) {
		t.Error("the same seed gives other chains")
	}
	drawn := 0
	for i, h := range hidden {
		switch {
		case !h && f.Chains[0][i] != f.Image[i]:
			t.Errorf("the known pixel %d is %v in a chain, want %v", i, f.Chains[0][i], f.Image[i])
		case h && f.Chains[0][i] > 0.5:
			drawn++
		}
	}
	if drawn < 5 {
		t.Errorf("the chain fills in %d pixels, want a stroke", drawn)
	}
}

// TestHeldUnitsChangeDreams holds one unit on and off.
func TestHeldUnitsChangeDreams(t *testing.T) {
	p := opened(t)
	on := called[[][]float64](t, p, "dream", `{"seed": 1, "images": 25, "held": [{"layer": 1, "unit": 3, "on": true}]}`)
	off := called[[][]float64](t, p, "dream", `{"seed": 1, "images": 25, "held": [{"layer": 1, "unit": 3, "on": false}]}`)
	if len(on) != 25 || slices.EqualFunc(on, off, slices.Equal) {
		t.Error("a unit that is held on makes no other dreams than one that is held off")
	}
}

// TestRace trains both machines: they begin alike, their divergence falls, and the estimate is near the enumerated
// divergence or above it, as importance sampling overestimates a divergence. An error over rows would not apply: both
// are of the same rows.
func TestRace(t *testing.T) {
	p := opened(t)
	first := called[map[string]divergence](t, p, "begin", `{"rates": {"rws": 0.05, "nrws": 0.05}}`)
	if first["rws"].Exact != first["nrws"].Exact {
		t.Errorf("the machines begin at %v", first)
	}
	var last map[string]divergence
	for range 30 {
		last = called[map[string]divergence](t, p, "epoch", `{}`)
	}
	for preset, d := range last {
		if !(d.Exact < first[preset].Exact-0.5) {
			t.Errorf("%s: the divergence goes from %v to %v nats", preset, first[preset].Exact, d.Exact)
		}
		if !(d.Estimate > d.Exact-0.1 && d.Estimate < d.Exact+0.5) {
			t.Errorf("%s: the estimate is %v, enumerated %v", preset, d.Estimate, d.Exact)
		}
	}
	for _, wrong := range []string{`{"rates": {"ws": 1}}`, `{"rates": {"rws": -1}}`, `[]`} {
		if _, err := calls["begin"](p, []byte(wrong)); err == nil {
			t.Errorf("%s is no error", wrong)
		}
	}
}

// TestInBrowser compares the divergences that Chromium shows after 100 epochs with those of this machine's
// portable kernels: make browser runs it, after make site.
func TestInBrowser(t *testing.T) {
	if os.Getenv("HELMHOLTZ_BROWSER_TESTS") == "" {
		t.Skip("HELMHOLTZ_BROWSER_TESTS is not set: make browser opens the live page in Chromium")
	}
	pictures, err := filepath.Abs("../../build/browser")
	if err == nil {
		err = os.MkdirAll(pictures, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	look := exec.CommandContext(t.Context(), "../../build/playwright/bin/python", "testdata/browser.py", "../../build/site/html", pictures)
	look.Stderr = os.Stderr
	text, err := look.Output()
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]float64
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	p := opened(t)
	called[map[string]divergence](t, p, "begin", `{"rates": {"rws": 0.05011872336272722, "nrws": 0.05011872336272722}}`) // 10^−1.3
	var last map[string]divergence
	for range 100 {
		last = called[map[string]divergence](t, p, "epoch", `{}`)
	}
	for _, preset := range []string{"rws", "nrws"} {
		if want := last[preset].Exact; !(math.Abs(shown[preset]-want) <= 0.0001) {
			t.Errorf("%s: the page shows a divergence of %v nats, native kernels have %v", preset, shown[preset], want)
		}
	}
}
