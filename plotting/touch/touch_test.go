package touch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// hand is a front end that moves the slider once something is shown, and then is done.
type hand struct {
	moves []int
	there bool
	end   func() // called instead of clicking Done

	slider, done chan int
	shown        []string
	left         bool
}

func (h *hand) show(html string) {
	h.shown = append(h.shown, html)
	if h.slider == nil {
		return
	}
	if len(h.moves) > 0 {
		h.slider <- h.moves[0]
		h.moves = h.moves[1:]
		return
	}
	h.end()
}

func (h *hand) touched(context.Context) (<-chan int, <-chan int, bool) {
	h.slider, h.done = make(chan int, 1), make(chan int, 1)
	if h.end == nil {
		h.end = func() { h.done <- 1 }
	}
	if h.there {
		h.slider <- h.moves[0]
		h.moves = h.moves[1:]
	}
	return h.slider, h.done, h.there
}

func (h *hand) still() { h.left = true }

// titled returns a figure whose description is its title.
func titled(title string) *plotting.Figure {
	return plotting.Samples(dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 1}, Values: [][]float64{{0.5}}}).Title(title)
}

var alt = regexp.MustCompile(`alt="([^"]*)"`)

func touch(t *testing.T, ctx context.Context, h *hand) []string {
	t.Helper()
	answer(ctx, h, titled("first"), func(i int) (*plotting.Figure, error) {
		if i == 13 {
			return nil, errors.New("no 13 < 14")
		}
		return titled(fmt.Sprint("number ", i)), nil
	})
	if !h.left {
		t.Error("the slider stays when nobody answers it")
	}
	var shown []string
	for _, html := range h.shown {
		if found := alt.FindStringSubmatch(html); found != nil {
			html = found[1]
		}
		shown = append(shown, html)
	}
	return shown
}

func TestTheSliderChoosesTheFigure(t *testing.T) {
	got := touch(t, t.Context(), &hand{moves: []int{2, 13, 1}, there: true})
	if want := []string{"first", "number 2", "no 13 &lt; 14", "number 1"}; !slices.Equal(got, want) {
		t.Errorf("shown are %q, want %q", got, want)
	}
}

func TestWithoutAFrontEndTheFigureIsStill(t *testing.T) {
	if got := touch(t, t.Context(), &hand{moves: []int{2}}); !slices.Equal(got, []string{"first"}) {
		t.Errorf("shown are %q, want the first figure alone", got)
	}
}

func TestFiguresThatThereAreNot(t *testing.T) {
	draw := oneOf(2, func(i int) (*plotting.Figure, error) { return []*plotting.Figure{titled("0"), nil}[i], nil })
	for i, says := range map[int]string{-1: "figure -1 of 2", 0: "", 1: "is nil", 2: "figure 2 of 2"} {
		figure, err := draw(i)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("number %d is %v, %v, want an error that says %q", i, figure, err, says)
		}
	}
	Show(t.Context(), 1, 0, func(int) (*plotting.Figure, error) { return nil, nil })
	Show(t.Context(), 1, 5, func(i int) (*plotting.Figure, error) {
		t.Errorf("number %d of 1 is drawn", i)
		return titled("none"), nil
	})
}

func TestAnInterruptEndsTouching(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	if got := touch(t, ctx, &hand{moves: []int{1}, there: true, end: interrupt}); !slices.Equal(got, []string{"first", "number 1"}) {
		t.Errorf("shown are %q, want that before the interrupt", got)
	}
}

// TestHeldUnitsAreDrawnBesideTheDream checks the three columns: they differ, and a unit held on
// gives another image than one held off.
func TestHeldUnitsAreDrawnBesideTheDream(t *testing.T) {
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	run, err := hm.RWS().Epochs(2).Keep(1).Train(t.Context(), hm.New(set.Shape()).Dense(6, 4), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var pictures [][]byte
	for _, unit := range []int{0, 1} {
		figure, err := held(t.Context(), run.Model, 1, unit, 4)
		if err != nil {
			t.Fatal(err)
		}
		png, err := figure.PNG()
		if err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, png)
	}
	if bytes.Equal(pictures[0], pictures[1]) {
		t.Error("two units give the same picture")
	}
	if got := run.Kept(); !slices.Equal(got, []int{1}) {
		t.Errorf("the run keeps %v, want epoch 1", got)
	}
}
