package reproduce

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Work is a result in progress: its trained runs, and the findings on them.
type Work struct {
	Scale Scale
	// Say reports what is being done; Progress, which may be nil, is called with the fraction done.
	Say      func(format string, values ...any)
	Progress func(float64)
	Sets     *runs.Sets

	entry Entry
	dir   string             // of the trainings
	drawn []*plotting.Figure // the figures of made
	data  string             // of the trainings
	made  Made
}

// Training returns one of the result's trainings by name.
func (w *Work) Training(name string) (Training, error) {
	all := w.entry.Trainings(w.Scale)
	t, found := first(all, func(t Training) bool { return t.Name == name })
	if !found {
		return t, fmt.Errorf("%s has no training %s", w.entry.ID, name)
	}
	return t, nil
}

// Dirs returns the directories of a training's runs, one per seed. The error is a Diverged if one of
// the runs diverged before the given number of epochs.
func (w *Work) Dirs(name string, epochs int) ([]string, error) {
	t, err := w.Training(name)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, job := range Jobs([]Training{t}, w.dir, w.Scale) {
		d, err := job.diverged()
		if err != nil {
			return nil, err
		}
		if d != nil && (d.Name != name || d.Epochs < epochs) { // with another name, it is the run that this run starts from
			return nil, d
		}
		dirs = append(dirs, job.Dir)
	}
	return dirs, nil
}

// History returns the history of a run up to the given number of epochs, with the given name.
func History(name string, run *runs.Run, epochs int) runs.History {
	h := run.History()
	h.Name = name
	h.Epochs = slices.DeleteFunc(slices.Clone(h.Epochs), func(e runs.Epoch) bool { return e.Epoch > epochs })
	return h
}

// Kept returns the stored answer to a question. If there is none, it calls answer, and stores the result next
// to the trainings.
func Kept[T any](w *Work, question string, answer func() (T, error)) (T, error) {
	path := filepath.Join(w.dir, "evaluations", fileName(question)+".json")
	var kept T
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &kept) == nil {
		return kept, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return kept, err
	}
	if kept, err = answer(); err == nil {
		err = writeJSON(path, kept, "")
	}
	return kept, err
}

// fileName replaces everything except letters, digits and dots in a text by hyphens.
func fileName(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return '-'
	}, text), "-")
}

// Draw adds a figure of the result under a name that describes it.
func (w *Work) Draw(name, caption string, f *plotting.Figure) {
	name = fmt.Sprintf("%s-%s.%s.png", fileName(w.entry.ID), fileName(name), w.Scale)
	w.made.Figures, w.drawn = append(w.made.Figures, Figure{name, caption}), append(w.drawn, f)
}

// save saves the figures of the result in a directory, as PNG and as SVG.
func (w *Work) save(dir string) error {
	for i, figure := range w.made.Figures {
		for _, ending := range []string{".png", ".svg"} {
			if err := w.drawn[i].Save(filepath.Join(dir, strings.TrimSuffix(figure.File, ".png")+ending)); err != nil {
				return fmt.Errorf("figure %s: %w", figure.File, err)
			}
		}
	}
	return nil
}

// Has reports whether the criteria have a number with the given subject and measure.
func (w *Work) Has(of, measure string) bool {
	_, has := w.entry.Number(of, measure)
	return has
}

// Found adds the measured value of a number of the criteria. A number that depends on the length of training gets no
// verdict unless the scale is full. Found panics if the criteria have no such number.
func (w *Work) Found(of, measure string, v Value) {
	n, has := w.entry.Number(of, measure)
	if !has {
		panic(fmt.Sprintf("%s: the criteria have no %s of %q", w.entry.ID, measure, of))
	}
	v.Of, v.Measure, v.Data = of, measure, cmp.Or(v.Data, w.data)
	v.Elsewhere = w.entry.elsewhere(w.made, n, v.Elsewhere)
	w.made.Values = append(w.made.Values, v)
}

// Beside adds a value measured in addition to the numbers of the criteria.
func (w *Work) Beside(of, measure string, v Value) {
	v.Of, v.Measure, v.Data = of, measure, cmp.Or(v.Data, w.data)
	w.made.Beside = append(w.made.Beside, v)
}

// Beyond adds a sentence about a finding that no claim asks for.
func (w *Work) Beyond(sentence string, values ...any) {
	w.made.Beyond = append(w.made.Beyond, fmt.Sprintf(sentence, values...))
}

// Judge records the evidence on a claim, with the verdict that follows from the quantities on. It gives no verdict
// if there are no quantities, at the scale smoke, and on an amount at any scale but full. Judge panics if the result
// has no such claim.
func (w *Work) Judge(says string, on []Quantity, evidence string) {
	claim, has := first(w.entry.Claims, func(c Claim) bool { return c.Says == says })
	if !has {
		panic(fmt.Sprintf("%s: the criteria have no claim %q", w.entry.ID, says))
	}
	j := Judged{Says: says, Verdict: Shown, Evidence: evidence, On: on}
	if w.Scale != Smoke && len(on) > 0 { // the data of smoke are synthetic
		j.Verdict = VerdictOn(on)
	}
	if claim.Amount && w.Scale != Full {
		j.show()
	}
	w.made.Judged = append(w.made.Judged, j)
}

// Show is like Judge, but gives no verdict, because training was shorter or the data differ from the
// published data. It only records how the criterion stands here.
func (w *Work) Show(says string, on []Quantity, evidence string) {
	w.Judge(says, on, evidence)
	w.made.Judged[len(w.made.Judged)-1].show()
}

// show withholds the verdict.
func (j *Judged) show() {
	if j.Verdict != Shown {
		j.Verdict, j.Here = Shown, j.Verdict
	}
}
