package plotting_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

var regen = flag.Bool("regen", false, "make the images of this run the golden ones")

// golden runs an example in its own directory and compares the PNG image that it saves with the
// image of the same name in testdata. Rounding may change pixels at the edges of lines between
// machines; a few such differences are allowed.
func golden(t *testing.T, example func(), name string) {
	t.Helper()
	kept, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.ArtifactDir())
	example()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if *regen {
		if err := os.WriteFile(kept, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(kept)
	if err != nil {
		t.Fatalf("%v: make it with go test -regen, and look at it", err)
	}
	const tolerated = 0.0005
	if d := different(t, got, want); d > tolerated {
		t.Errorf("%s differs from testdata in %.2f %% of its pixels: look at it (go test -artifacts keeps it), and if it is better, go test -regen", name, 100*d)
	}
}

// different returns the fraction of pixels that differ visibly.
func different(t *testing.T, got, want []byte) float64 {
	t.Helper()
	a, b := decode(t, got), decode(t, want)
	if a.Bounds() != b.Bounds() {
		t.Fatalf("an image of %v where %v is kept", a.Bounds().Size(), b.Bounds().Size())
	}
	const visible = 0x2000 // of 0xFFFF
	count := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, b2, _ := a.At(x, y).RGBA()
			r2, g2, b3, _ := b.At(x, y).RGBA()
			if max(distance(r, r2), distance(g, g2), distance(b2, b3)) > visible {
				count++
			}
		}
	}
	return float64(count) / float64(a.Bounds().Dx()*a.Bounds().Dy())
}

func distance(a, b uint32) uint32 { return max(a, b) - min(a, b) }

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}
