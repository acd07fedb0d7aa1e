package plotting

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot/vg"
)

func oneRun() runs.History {
	return runs.History{Epochs: []runs.Epoch{
		{Epoch: 1, Seconds: 1, Train: runs.Measures{"log_p": -3}},
		{Epoch: 2, Seconds: 2, Train: runs.Measures{"log_p": -2}},
	}}
}

func TestSaveWritesTheFormatOfTheExtension(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "new", "directory")
	for extension, check := range map[string]func([]byte) error{
		".png": func(data []byte) error { _, err := png.Decode(bytes.NewReader(data)); return err },
		".SVG": func(data []byte) error {
			decoder := xml.NewDecoder(bytes.NewReader(data))
			for {
				if _, err := decoder.Token(); err != nil {
					return err
				}
			}
		},
		".pdf": func(data []byte) error {
			if !bytes.HasPrefix(data, []byte("%PDF-")) {
				return errors.New("no PDF")
			}
			return nil
		},
	} {
		path := filepath.Join(directory, "figure"+extension)
		if err := Curves(oneRun()).Title("−log p*, Z², ω").Save(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(data); err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", extension, err)
		}
	}
	files, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 {
		t.Errorf("files beside the 3 saved: %v", files)
	}
}

func TestSaveLeavesWhatItCannotReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figure.bmp")
	if err := os.WriteFile(path, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Curves(oneRun()).Save(path)
	if err == nil {
		t.Fatal("saved as .bmp")
	}
	for _, part := range []string{path, `".bmp"`, ".png", ".svg", ".pdf"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	if data, _ := os.ReadFile(path); string(data) != "kept" {
		t.Errorf("the file there became %q", data)
	}
}

func TestShow(t *testing.T) {
	said := func(f *Figure) string {
		file, err := os.Create(filepath.Join(t.TempDir(), "said"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		before := os.Stderr
		os.Stderr = file
		f.Show()
		os.Stderr = before
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := said(Curves(oneRun())); !strings.Contains(text, `Save("figure.png")`) || strings.Count(text, "\n") != 1 {
		t.Errorf("outside a notebook: %q", text)
	}
	if text := said(Curves()); !strings.Contains(text, "no histories") {
		t.Errorf("instead of a figure of nothing: %q", text)
	}
	shown, err := Curves(oneRun()).PNG()
	if err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(bytes.NewReader(shown))
	if err != nil {
		t.Fatal(err)
	}
	if width := float64(singleWidth/vg.Inch) * dotsPerInch; float64(config.Width) != width {
		t.Errorf("a figure has %d × %d pixels", config.Width, config.Height)
	}
}

func TestSettingsLeaveTheFigureTheyAreCopiedFrom(t *testing.T) {
	f := Curves(oneRun())
	f.Title("another").Size(2, 2)
	if f.title != "" || f.width != singleWidth {
		t.Errorf("the source has title %q and width %v", f.title, f.width)
	}
}

func TestErrorsAreRememberedUntilSave(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	allNaN := runs.History{Name: "diverged", Epochs: []runs.Epoch{{Epoch: 1, Train: runs.Measures{"log_p": nan}}}}
	noValidation := oneRun()
	noValidation.Epochs[0].Validation = runs.Measures{"log_p": inf}
	later := runs.History{Epochs: []runs.Epoch{{Epoch: 1, Seconds: 3, Train: runs.Measures{"log_p": -2}}}}
	one := []float64{0}
	oneGroup := Group{Name: "RWS", Seeds: []runs.History{oneRun()}}
	for name, c := range map[string]struct {
		figure *Figure
		says   string
	}{
		"no runs":               {Curves(), "no histories"},
		"no epochs":             {Curves(runs.History{Name: "fresh"}), "fresh has no epochs"},
		"NaN curve":             {Curves(oneRun(), allNaN), "training log p of diverged"},
		"infinite validation":   {CurvesByTime(noValidation), "validation log p of run 1"},
		"no groups":             {SeedBands(), "no groups"},
		"no seeds":              {SeedBands(Group{Name: "RWS"}), `"RWS"`},
		"no common epoch":       {SeedBands(Group{Name: "RWS", Seeds: []runs.History{oneRun(), allNaN}}), "each of its 2 seeds"},
		"no groups by time":     {SeedBandsByTime(), "no groups"},
		"no common time":        {SeedBandsByTime(Group{Name: "RWS", Seeds: []runs.History{oneRun(), later}}), "no wall-clock time"},
		"two published values":  {SeedBands(oneGroup).Published(nan, 1), "2 published values for the 1 groups"},
		"infinite evaluation":   {SeedBands(Group{Name: "one", Seeds: oneGroup.Seeds, Evaluated: inf}), "one, evaluated has no finite value"},
		"infinite published":    {SeedBandsByTime(oneGroup).Published(inf), "published value 1 is -Inf"},
		"published elsewhere":   {Curves(oneRun()).Published(1), "draw the groups with SeedBands"},
		"no sheets":             {Drawn(runs.Drawing{}, nil), "no sheets"},
		"no weights":            {ImportanceWeights(hm.ImportanceWeights{LogWeights: []float64{inf}, LogWeightsStar: one}), "among the 1 of q as proposal of p(h|x)"},
		"no weights for p*":     {ImportanceWeights(hm.ImportanceWeights{LogWeights: one}), "p*(h|x)"},
		"no estimates":          {LogZ2(hm.LogZ2{}), "without estimates"},
		"uneven repeats":        {LogZ2(hm.LogZ2{Outer: []int{1, 2}, Repeats: [][]float64{one}}), "repeat 0 of log Z² has 1 estimates for 2"},
		"no samples":            {LogZ2(hm.LogZ2{Outer: []int{0}, Repeats: [][]float64{one}}), "has 0 samples"},
		"NaN estimates":         {LogZ2(hm.LogZ2{Outer: []int{1}, Repeats: [][]float64{{nan}}}), "no finite value"},
		"no convergence":        {LikelihoodBySamples(), "no estimates"},
		"negative samples":      {LikelihoodBySamples(hm.Convergence{Name: "RWS", Samples: []int{-1}, LogP: one, LogPSE: one}), "RWS: an estimate has -1"},
		"uneven convergence":    {LikelihoodBySamples(hm.Convergence{Samples: []int{1}, LogP: one}), "0 standard errors"},
		"no images":             {Samples(dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 1}}), "has no images"},
		"images of no size":     {Samples(dataset.Sheet{Values: [][]float64{{}}}), "shape 0×0: give"},
		"images of size -2":     {Samples(dataset.Sheet{Shape: dataset.Shape{Height: -2, Width: -2}, Values: [][]float64{{1, 1, 1, 1}}}), "shape -2×-2: give"},
		"images of another":     {Samples(dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 2}, Values: [][]float64{one}}), "image 1 has 1 value, but its shape is 2×2: give 4"},
		"NaN image":             {Samples(dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 1}, Values: [][]float64{{nan}}}), "value 1 of image 1 is not a number"},
		"machine of no layers":  {FisherStructure(engine.Architecture{}), "layer"},
		"figure of no width":    {Curves(oneRun()).Size(0, 4), "0 × 4 inches"},
		"figure of NaN height":  {Curves(oneRun()).Size(4, nan), "NaN"},
		"figure of any size":    {Curves(oneRun()).Size(1e6, 4), "a width between 2 and 100"},
		"the first error stays": {Curves().Size(0, 0).Title("nothing"), "no histories"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "figure.png")
			err := c.figure.Save(path)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("saved in spite of it")
			}
		})
	}
}

// The smallest and far too large figures are drawn: no axis panics or loops for ever.
func TestExtremeFigures(t *testing.T) {
	epoch := runs.History{Epochs: []runs.Epoch{{Epoch: 1, Train: runs.Measures{"log_p": -1}}}}
	one := []float64{0}
	many := make([]runs.History, 50)
	for i := range many {
		many[i] = runs.History{Name: strings.Repeat("long name ", 10), Epochs: epoch.Epochs}
	}
	diverged := runs.History{Epochs: []runs.Epoch{{Epoch: 1, Train: runs.Measures{"log_p": -1e33}}}}
	for name, f := range map[string]*Figure{
		"many runs":            Curves(many...),
		"diverged at once":     Curves(diverged),
		"one epoch":            CurvesByEpochAndTime(epoch),
		"one seed of an epoch": SeedBands(Group{Name: "RWS", Seeds: []runs.History{epoch}}),
		"one weight":           ImportanceWeights(hm.ImportanceWeights{LogWeights: one, LogWeightsStar: one}),
		"one outer sample":     LogZ2(hm.LogZ2{Outer: []int{1}, Repeats: [][]float64{one}}),
		"some repeats NaN":     LogZ2(hm.LogZ2{Outer: []int{1, 2}, Repeats: [][]float64{{math.NaN(), 1}, {1, math.Inf(1)}}}),
		"one number":           LikelihoodBySamples(hm.Convergence{Samples: []int{1000}, LogP: one, LogPSE: one}),
		"one pixel":            Samples(dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 1}, Values: [][]float64{one}}),
		"one unit a layer":     FisherStructure(engine.Architecture{Units: []int{1, 1}}),
		"smallest":             CurvesByEpochAndTime(epoch).Size(4, 2).Title("x"),
		"smallest machine":     FisherStructure(engine.Architecture{Units: []int{1, 1}}).Size(4, 2),
		"smallest numbers":     LikelihoodBySamples(hm.Convergence{Samples: []int{1e6}, LogP: one, LogPSE: one}).Size(2, 2),
	} {
		for _, format := range []string{".png", ".svg", ".pdf"} {
			if err := f.Save(filepath.Join(t.TempDir(), "figure"+format)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
