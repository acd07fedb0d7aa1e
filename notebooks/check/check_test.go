package check

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/fuzz"
)

// sound returns an executed notebook of two cells that print and show a figure.
func sound() string {
	return `{
	"nbformat": 4, "nbformat_minor": 5,
	"metadata": {"kernelspec": {"name": "helmholtz", "language": "go", "display_name": "Go (Helmholtz)"}},
	"cells": [
		{"id": "title", "cell_type": "markdown", "metadata": {}, "source": ["# A machine\n", "learns."]},
		{"id": "train", "cell_type": "code", "metadata": {}, "source": "%%\ntrain()", "execution_count": 1,
		 "outputs": [{"output_type": "stream", "name": "stdout", "text": ["log p = -90.1\n", "done\n"]}]},
		{"id": "show", "cell_type": "code", "metadata": {}, "source": ["%%\n", "show()"], "execution_count": 2,
		 "outputs": [{"output_type": "display_data", "metadata": {}, "data": {"image/png": "PNG", "text/plain": "a figure"}}]}
	]}`
}

// withPNG puts a real image into the placeholder of sound.
func withPNG(t testing.TB, notebook string) string {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(notebook, `"PNG"`, `"`+base64.StdEncoding.EncodeToString(file.Bytes())+`\n"`)
}

func check(t *testing.T, notebook string) error {
	t.Helper()
	parsed, err := Parse([]byte(notebook))
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Check("/srv/checkout")
}

func TestSoundNotebooks(t *testing.T) {
	png := `{"image/png": "PNG", "text/plain": "a figure"}`
	for name, data := range map[string]string{
		"PNG":         png,
		"SVG":         `{"image/svg+xml": ["<svg>", "</svg>"]}`,
		"SVG in HTML": `{"text/html": "<div><svg width='1'></svg></div>"}`,
		"PNG in HTML": `{"text/html": "<img alt='' src=\"data:image/png;base64,AAAA\">"}`,
	} {
		t.Run(name, func(t *testing.T) {
			notebook := withPNG(t, strings.Replace(sound(), png, data, 1))
			if err := check(t, notebook); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckFinds(t *testing.T) {
	stdout := `{"output_type": "stream", "name": "stdout", "text": ["log p = -90.1\n", "done\n"]}`
	tests := []struct {
		name     string
		old, new string // what is changed in the sound notebook
		want     string // part of the message
	}{
		{"another format", `"nbformat": 4`, `"nbformat": 3`, "nbformat is 3"},
		{"another kernel", `"name": "helmholtz"`, `"name": "gonb"`, `the kernel is "gonb": choose helmholtz`},
		{"the same id twice", `"id": "show"`, `"id": "train"`, `cell 3: the id "train"`},
		{"no id", `"id": "show", `, ``, `cell 3: the id ""`},
		{"an unknown cell", `"markdown"`, `"heading"`, `cell 1: the type "heading"`},
		{"a cell that was not executed", `"execution_count": 1`, `"execution_count": null`, "cell 2: was not executed"},
		{"cells executed out of order", `"execution_count": 2`, `"execution_count": 7`, "cell 3: was executed as number 7, not 2"},
		{"a long cell", `"%%\ntrain()"`, `"%%` + strings.Repeat(`\n`, 30) + `train()"`, "cell 2: has 31 lines, more than 30"},
		{"no outputs", `"outputs": [` + stdout + `]`, `"outputs": null`, "cell 2: has no list of outputs"},
		{"an error", stdout, `{"output_type": "error", "ename": "ERROR", "evalue": "exit status 1", "traceback": []}`,
			"cell 2: failed with ERROR: exit status 1"},
		{"an unknown output", `"stream"`, `"pyout"`, `cell 2: the output type "pyout"`},
		{"a panic", stdout, `{"output_type": "stream", "name": "stderr", "text": "so far\npanic: no rows\n\ngoroutine 1 [running]:"}`,
			"cell 2: wrote to stderr: so far\npanic: no rows"},
		{"an unknown command", stdout, `{"output_type": "stream", "name": "stderr", "text": "\"%hm\" unknown or not implemented yet."}`,
			"cell 2: wrote to stderr"},
		{"a failed line of the session", stdout, `{"output_type": "stream", "name": "stderr", "text": "%hm stop: no run \"none\"\n"}`,
			`cell 2: wrote to stderr: %hm stop: no run "none"`},
		{"no figure", `"image/png": "PNG", `, ``, "no cell shows a figure"},
		{"a damaged figure", `"PNG"`, `"iVBORw0KGgo="`, "cell 3: shows a damaged PNG"},
		{"a figure that is not stored", `"a figure"`, `"<img width=3 src='figure.png'>"`, "cell 3: links to an image outside the notebook: figure.png"},
		{"a home directory", "done", "saved in /home/student/runs", "cell 2: shows the home directory /home/student"},
		{"the checkout in a display", "a figure", "/srv/checkout/runs", "cell 3: shows the folder /srv/checkout"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.Replace(sound(), test.old, test.new, 1)
			if changed == sound() {
				t.Fatalf("the sound notebook has no %s", test.old)
			}
			err := check(t, withPNG(t, changed))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("found %v, want %s", err, test.want)
			}
		})
	}
}

func TestCheckReportsEveryProblem(t *testing.T) {
	notebook := strings.NewReplacer(`"helmholtz"`, `"python3"`, `"execution_count": 1`, `"execution_count": null`, `"image/png": "PNG", `, "").Replace(sound())
	err := check(t, notebook)
	for _, want := range []string{"kernel", "cell 2", "figure"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want also %s", err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":              "%PDF",
		"a truncated file":     sound()[:200],
		"text that is no text": strings.Replace(sound(), `"%%\ntrain()"`, `{"a": 1}`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(data)); err == nil || !strings.Contains(err.Error(), "not a Jupyter notebook") {
				t.Errorf("error %v, want that it is not a Jupyter notebook", err)
			}
		})
	}
}

// The lines of a long text are joined at once, in linear time.
func TestLinesAreJoinedOnce(t *testing.T) {
	data := []byte(`["line"` + strings.Repeat(`,"line"`, 20_000) + `]`)
	var text Text
	fuzz.Bounded(t, len(data), func() {
		if err := text.UnmarshalJSON(data); err != nil || len(text) != 4*20_001 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}

// FuzzParse checks that every parsed notebook can be checked, and that a notebook without cells is
// never accepted.
func FuzzParse(f *testing.F) {
	f.Add([]byte(withPNG(f, sound())))
	f.Add([]byte(`{"nbformat": 4, "metadata": {"kernelspec": {"name": "helmholtz"}}, "cells": []}`))
	f.Add([]byte(`{"cells": [{"cell_type": "code", "outputs": [{"data": {"image/png": 3, "text/html": [1]}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var notebook *Notebook
		var err, wrong error
		fuzz.Bounded(t, len(data), func() {
			if notebook, err = Parse(data); err == nil {
				wrong = notebook.Check("/srv/checkout")
			}
		})
		if err == nil && wrong == nil && len(notebook.Cells) == 0 {
			t.Error("a notebook without cells was found sound")
		}
	})
}
