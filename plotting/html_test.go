package plotting

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A figure on a page has density times the resolution of its place, and a description in words.
func TestFiguresOnPagesAreDenseAndDescribed(t *testing.T) {
	curves := Curves(runs.History{Epochs: []runs.Epoch{{Epoch: 1, Train: runs.Measures{"log_p": -3}}, {Epoch: 2, Train: runs.Measures{"log_p": -2}}}})
	sheet := Samples(dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 2}, Values: [][]float64{{0, 1}}})
	for alt, f := range map[string]*Figure{
		`a &lt;b&gt;; −log p(x) (nats) against epoch`: curves.Title("a <b>"), "images": sheet, "Dreams": sheet.Title("Dreams"),
		"(a) Dreams; (b) Training; −log p(x) (nats) against epoch": Row(sheet.Title("Dreams"), curves.Title("Training")),
	} {
		text, err := f.HTML()
		if err != nil {
			t.Fatal(err)
		}
		parts := regexp.MustCompile(`^<img alt="(.*)" width="(\d+)" height="(\d+)"( style="filter:invert\(var\(--jp-shadow-base-lightness,0\)\) [^"]*")? src="data:image/png;base64,(.*)">$`).FindStringSubmatch(text)
		if parts == nil || parts[1] != alt {
			t.Fatalf("%.200s does not say %q", text, alt)
		}
		if themed := parts[4] != ""; themed == (alt == "images" || strings.Contains(alt, "Dreams")) {
			t.Errorf("%s follows the theme of JupyterLab: %v", alt, themed)
		}
		encoded, err := base64.StdEncoding.DecodeString(parts[5])
		if err != nil {
			t.Fatal(err)
		}
		image, err := png.DecodeConfig(bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		for i, dots := range []int{image.Width, image.Height} {
			if of, _ := strconv.Atoi(parts[2+i]); dots < density*of-density || dots > density*(of+1)+density {
				t.Errorf("%s has %d dots in the place of %d", alt, dots, of)
			}
		}
	}
	if text, err := Curves().HTML(); err == nil || strings.Contains(text, "img") {
		t.Errorf("a figure of nothing is %s, %v", text, err)
	}
}

// A notebook shows a report inside Jupyter's own page, whose style it must not change.
func TestReportsInNotebooksHaveNoStyle(t *testing.T) {
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := hm.RWS().Epochs(1).Train(t.Context(), hm.New(set.Shape()).Dense(4), set, dir, runs.Quiet); err != nil {
		t.Fatal(err)
	}
	page, err := Report(t.Context(), dir, ReportOptions{Samples: 10, Rows: 10, LogZ2: 10})
	if err != nil {
		t.Fatal(err)
	}
	if shown := page.inNotebook(); strings.Contains(shown, "<style") || !strings.Contains(shown, "<h2>Epochs</h2>") {
		t.Errorf("a notebook shows %.400s", shown)
	}
}
