package plotting_test

import (
	"bytes"
	"fmt"
	"image/gif"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// square returns an image of 2×2 pixels of one grey.
func square(grey float64) *plotting.Figure {
	return plotting.Samples(dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 2}, Values: [][]float64{{grey, grey, grey, grey}}})
}

// The figures of an animation are shown one after the other.
func ExampleAnimate() {
	b, err := plotting.Animate(200*time.Millisecond, square(0), square(0.5), square(1)).GIF()
	if err != nil {
		log.Fatal(err)
	}
	all, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(all.Image), "frames, of", all.Delay, "hundredths of a second")
	// Output: 3 frames, of [20 20 80] hundredths of a second
}

// Frames of few colours keep them; an animation without frames, or with a faulty one, is an error.
func TestAnimationKeepsColours(t *testing.T) {
	frame := square(0.3)
	b, err := plotting.Animate(time.Second, frame).GIF()
	if err != nil {
		t.Fatal(err)
	}
	got, err := gif.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := frame.PNG()
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			r, g, b, _ := got.At(x, y).RGBA()
			R, G, B, _ := want.At(x, y).RGBA()
			if r != R || g != G || b != B {
				t.Fatalf("pixel %d, %d is %v, in the figure %v", x, y, got.At(x, y), want.At(x, y))
			}
		}
	}
	if _, err := plotting.Animate(time.Second).GIF(); err == nil || !strings.Contains(err.Error(), "frame") {
		t.Errorf("without frames: %v", err)
	}
	if _, err := plotting.Animate(time.Second, plotting.Samples(dataset.Sheet{})).GIF(); err == nil {
		t.Error("a faulty frame is no error")
	}
}

// A GIF holds pauses as 16-bit numbers of hundredths of a second.
func TestAnimationRefusesPausesThatAGIFCannotHold(t *testing.T) {
	for pause, held := range map[time.Duration]bool{
		10 * time.Millisecond: true, 163 * time.Second: true, 0: false, time.Millisecond: false, -5 * time.Second: false, 164 * time.Second: false, 200 * time.Second: false,
	} {
		b, err := plotting.Animate(pause, square(0), square(1)).GIF()
		if !held {
			if err == nil || !strings.Contains(err.Error(), "use 10 ms to 163 s") {
				t.Errorf("a pause of %v: %v", pause, err)
			}
			continue
		}
		all, err := gif.DecodeAll(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Duration(all.Delay[1]) * 10 * time.Millisecond; got != 4*pause {
			t.Errorf("the last pause is %v, want %v", got, 4*pause)
		}
	}
}

// An animation is saved only under the extension of its format.
func TestAnimationIsSavedAsGIF(t *testing.T) {
	for name, accepted := range map[string]bool{"a.gif": true, "a.GIF": true, "a.png": false, "a": false} {
		path := filepath.Join(t.TempDir(), name)
		err := plotting.Animate(time.Second, square(0)).Save(path)
		if _, missing := os.Stat(path); accepted != (err == nil) || accepted != (missing == nil) {
			t.Errorf("saved as %s: %v, %v", name, err, missing)
		}
	}
}

// A film has one frame for each step, the frame of the images of that step.
func TestFilmShowsSteps(t *testing.T) {
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 4}, Values: [][]float64{{0, 0, 0, 1, 1, 0, 0, 0}}}
	film, err := plotting.Film(sheet)
	if err != nil {
		t.Fatal(err)
	}
	got, err := film.GIF()
	if err != nil {
		t.Fatal(err)
	}
	step := func(values ...float64) *plotting.Figure {
		return plotting.Samples(dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 2}, Values: [][]float64{values}})
	}
	want, err := plotting.Animate(100*time.Millisecond, step(0, 0, 0, 1), step(1, 0, 0, 0)).GIF()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the film is not the animation of its steps: %v", err)
	}
	sheet.Shape = dataset.Shape{Height: 1, Width: 8}
	if _, err := plotting.Film(sheet); err == nil || !strings.Contains(err.Error(), "a step of 8 units is not a square image") {
		t.Errorf("the error is %v", err)
	}
}
