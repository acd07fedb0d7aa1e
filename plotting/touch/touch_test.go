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

// titled returns a figure whose description is its title.
func titled(title string) *plotting.Figure {
	return plotting.Samples(dataset.Sheet{Shape: dataset.Shape{Height: 1, Width: 1}, Values: [][]float64{{0.5}}}).Title(title)
}

var alt = regexp.MustCompile(`alt="([^"]*)"`)

// touch returns what follow shows when the slider moves to numbers, one after the other, and the reader then ends it.
func touch(ctx context.Context, moves []int, end func(done chan<- int)) (shown []string) {
	slider, done := make(chan int, 1), make(chan int, 1)
	next := func() {
		if len(moves) == 0 {
			end(done)
			return
		}
		slider <- moves[0]
		moves = moves[1:]
	}
	next()
	follow(ctx, slider, done, func(i int) (*plotting.Figure, error) {
		if i == 13 {
			return nil, errors.New("no 13 < 14")
		}
		return titled(fmt.Sprint("number ", i)), nil
	}, func(html string) {
		if found := alt.FindStringSubmatch(html); found != nil {
			html = found[1]
		}
		shown = append(shown, html)
		next()
	})
	return shown
}

func TestTheSliderChoosesTheFigure(t *testing.T) {
	got := touch(t.Context(), []int{2, 13, 1}, func(done chan<- int) { done <- 1 })
	if want := []string{"number 2", "no 13 &lt; 14", "number 1"}; !slices.Equal(got, want) {
		t.Errorf("shown are %q, want %q", got, want)
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
	if got := touch(ctx, []int{1}, func(chan<- int) { interrupt() }); !slices.Equal(got, []string{"number 1"}) {
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
