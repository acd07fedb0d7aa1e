package dataset

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrayAt writes an NPY file of two rows of three values.
func arrayAt(t *testing.T, name, descr string, values ...float64) string {
	t.Helper()
	var data []byte
	for _, v := range values {
		switch descr {
		case "|u1", "|b1":
			data = append(data, byte(v))
		case "<i8":
			data = binary.LittleEndian.AppendUint64(data, uint64(int64(v)))
		case "<f4":
			data = append(data, floats32(float32(v))...)
		}
	}
	return written(t, name, string(npyFile(strings.Replace(small, "|u1", descr, 1), data)))
}

// The scale of the training file decides what the numbers of another file mean, whether Test or ReadRows names it.
// Numbers that may have another scale are refused.
func TestAnotherFileHasTheScaleOfTheTrainingRows(t *testing.T) {
	type array struct {
		descr  string
		values []float64
	}
	bits, dark, grey := []float64{0, 1, 1, 0, 1, 0}, []float64{0, 9, 100, 51, 3, 1}, []float64{0, 51, 255, 153, 200, 1}
	blackWhite, fractions, spins := []float64{0, 255, 0, 255, 255, 0}, []float64{0, 0.2, 1, 0.6, 0.4, 0.8}, []float64{-1, 1, 1, -1, 1, -1}
	zeros, byteBits, ofFractions := make([]float64, 6), []uint8{0, 255, 255, 0, 255, 0}, []uint8{0, 51, 255, 153, 102, 204}
	asBytes := func(values []float64) (all []uint8) {
		for _, v := range values {
			all = append(all, uint8(v))
		}
		return all
	}
	for k, c := range []struct {
		train, other array
		want         []uint8
		says         string
	}{
		{array{"|u1", grey}, array{"|u1", dark}, asBytes(dark), ""},
		{array{"|u1", grey}, array{"<i8", dark}, asBytes(dark), ""},
		{array{"<i8", grey}, array{"|u1", dark}, asBytes(dark), ""},
		{array{"<f4", grey}, array{"<f4", dark}, asBytes(dark), ""},
		{array{"|u1", grey}, array{"<f4", fractions}, ofFractions, ""},
		{array{"<i8", grey}, array{"<f4", fractions}, ofFractions, ""},
		{array{"|u1", grey}, array{"|b1", bits}, byteBits, ""},
		{array{"|u1", grey}, array{"|u1", bits}, nil, "only 0 and 1, but the training rows have grey levels from 0 to 255"},
		{array{"|u1", grey}, array{"<f4", bits}, nil, "only 0 and 1, but the training rows have grey levels from 0 to 255"},
		{array{"<i8", grey}, array{"|u1", bits}, nil, "only 0 and 1, but the training rows have grey levels from 0 to 255"},
		{array{"<i8", grey}, array{"|u1", zeros}, asBytes(zeros), ""},
		{array{"|u1", blackWhite}, array{"<f4", bits}, byteBits, ""},
		{array{"|u1", blackWhite}, array{"|u1", dark}, asBytes(dark), ""},
		{array{"|u1", bits}, array{"|u1", dark}, nil, "its numbers go from 0 to 100, but the training rows go from 0 to 1"},
		{array{"|u1", bits}, array{"|u1", grey}, nil, "round the grey levels to 0 and 1"},
		{array{"|u1", bits}, array{"<f4", bits}, byteBits, ""},
		{array{"<f4", fractions}, array{"<i8", grey}, nil, "its numbers go from 0 to 255, but the training rows go from 0 to 1"},
		{array{"<f4", fractions}, array{"|u1", grey}, asBytes(grey), ""},
		{array{"<f4", fractions}, array{"|u1", dark}, nil, "its numbers go from 0 to 100, but the training rows go from 0 to 1"},
		{array{"<f4", fractions}, array{"|u1", bits}, nil, "save both as floating-point numbers"},
		{array{"<f4", fractions}, array{"<f4", bits}, byteBits, ""},
		{array{"|u1", grey}, array{"<f4", []float64{0, 254.5, 3, 3, 3, 3}}, nil, "whole numbers from 0 to 255"},
		{array{"|u1", grey}, array{"<i8", []float64{0, 256, 3, 3, 3, 3}}, nil, "its numbers go from 0 to 256, but the training rows have grey levels"},
		{array{"|u1", grey}, array{"<f4", spins}, nil, "its numbers go from -1 to 1, but the training rows have grey levels"},
		{array{"<f4", spins}, array{"<i8", spins}, byteBits, ""},
		{array{"<f4", spins}, array{"<i8", []float64{1, 1, 1, 1, 1, 1}}, slices.Repeat([]uint8{255}, 6), ""},
		{array{"<f4", spins}, array{"|u1", bits}, nil, "not all -1 or 1"},
		{array{"<f4", bits}, array{"<i8", spins}, nil, "its numbers go from -1 to 1, but the training rows go from 0 to 1"},
	} {
		train, other := arrayAt(t, "train.npy", c.train.descr, c.train.values...), arrayAt(t, "other.npy", c.other.descr, c.other.values...)
		spec := Spec{Name: train, Binarization: Gray, Validation: new(0)}
		want := byteBits
		if slices.Max(c.train.values) > 1 {
			want = asBytes(c.train.values)
		}
		if slices.Equal(c.train.values, fractions) {
			want = ofFractions
		}
		rows, err := opened(t, spec).ReadRows(other)
		spec.Test = other
		set, failure := spec.Open()
		if c.want == nil {
			wantError(t, err, "other.npy", c.says)
			wantError(t, failure, "other.npy", c.says)
			continue
		}
		if err != nil || failure != nil || !slices.Equal(rows.Bytes(), c.want) || !slices.Equal(set.Test().Bytes(), c.want) || !slices.Equal(set.Train().Bytes(), want) {
			t.Errorf("case %d: %v (%v) and %v (%v), want %v", k, rows.Bytes(), err, set, failure, c.want)
		}
	}
}

// Rows that rounding would make constant are refused in any file: they would be the most normal of all.
func TestRowsThatRoundingMakesConstant(t *testing.T) {
	grey := arrayAt(t, "grey.npy", "|u1", 0, 200, 255, 0, 0, 200)
	digits := make([][]float64, 2)
	for i := range digits {
		digits[i] = []float64{0, 0.9, 0.2}
	}
	made, err := FromRows("made", Shape{1, 3}, digits, digits)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*Set{opened(t, Spec{Name: grey}), made} {
		_, err = set.ReadRows(arrayAt(t, "dark.npy", "<f4", 0, 0.3, 0.4, 0.1, 0.2, 0))
		wantError(t, err, "dark.npy", "rounding at one half makes every value 0", "0 to 0.4", "like the training rows")
	}
	rows, err := made.ReadRows(arrayAt(t, "half.npy", "<f4", 0, 0.3, 0.4, 0.1, 0.9, 0))
	if says := rows.Notice(); err != nil || !strings.Contains(says, "1 of 2 rows of") || !strings.Contains(says, "makes constant") {
		t.Errorf("one dark row gives the notice %q, %v", says, err)
	}
	_, err = Spec{Name: grey, Test: arrayAt(t, "dark.npy", "|u1", 0, 90, 9, 0, 0, 9)}.Open()
	wantError(t, err, "the test rows: rounding at one half makes every value 0")
}

// Grey levels and fractions are told apart among real numbers too, which keep their scale.
func TestRealNumbersOfAnotherScale(t *testing.T) {
	levels, fractions := []float64{0, 51, 255, 153, 200, 1}, []float64{0, 0.2, 1, 0.6, 0.4, 0.8}
	sixteen := []float64{0, 13107, 65535, 39321, 51400, 257}
	for _, c := range []string{arrayAt(t, "levels.npy", "|u1", levels...), arrayAt(t, "sixteen.npy", "<i8", sixteen...)} {
		c := [2]string{c, arrayAt(t, "fractions.npy", "<f4", fractions...)}
		for i := range c {
			_, err := opened(t, Spec{Name: c[i], Binarization: Real}).ReadRows(c[1-i])
			wantError(t, err, "its numbers go from 0 to", "scale the rows in the same way")
		}
	}
	set := opened(t, Spec{Name: arrayAt(t, "levels.npy", "|u1", levels...), Binarization: Real})
	if rows, err := set.ReadRows(arrayAt(t, "few.npy", "|u1", 0, 1, 1, 0, 0, 1)); err != nil || !slices.Equal(rows.Reals(), []float32{0, 1, 1, 0, 0, 1}) {
		t.Errorf("small counts are %v, %v", rows.Reals(), err)
	}
}

// pictures writes pictures of 1×3 pixels into a folder, 16 bits deep if deep is true.
func pictures(t *testing.T, deep bool, rows ...[]uint16) string {
	t.Helper()
	folder := t.TempDir()
	more(t, folder, deep, rows...)
	return folder
}

func more(t *testing.T, folder string, deep bool, rows ...[]uint16) {
	t.Helper()
	for i, row := range rows {
		grey, grey16 := image.NewGray(image.Rect(0, 0, 3, 1)), image.NewGray16(image.Rect(0, 0, 3, 1))
		for k, v := range row {
			grey.Pix[k] = uint8(v)
			binary.BigEndian.PutUint16(grey16.Pix[2*k:], v)
		}
		file := pngOf(grey)
		if deep {
			file = pngOf(grey16)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, deep, ".png")), file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Pictures have the scale that largest gives, masks of 0 and 1 are bits, and pictures of 16 bits whose white is in
// doubt are refused. Rules 1 ignored largest and rounded to 8 bits first.
func TestScalesOfPictures(t *testing.T) {
	type pixels = [][]uint16
	mask, camera, sixteen := pixels{{0, 1, 1}, {1, 0, 1}}, pixels{{0, 4095, 2048}, {1024, 7, 4000}}, pixels{{0, 16, 8}, {4, 2, 1}}
	bits := []uint8{0, 255, 255, 255, 0, 255}
	for k, c := range []struct {
		deep     bool
		pixels   pixels
		largest  float64
		want     []uint8
		says     string
		rulesOne []uint8
	}{
		{true, mask, 0, bits, "", make([]uint8, 6)},
		{false, mask, 0, bits, "", []uint8{0, 1, 1, 1, 0, 1}},
		{true, mask, 1, bits, "", make([]uint8, 6)},
		{true, camera, 4095, []uint8{0, 255, 128, 64, 0, 249}, "", []uint8{0, 16, 8, 4, 0, 16}},
		{true, camera, 0, nil, "numbers up to 4095, but white is 65535: give the largest possible number, such as largest = 4095 (--largest)", []uint8{0, 16, 8, 4, 0, 16}},
		{true, pixels{{0, 257, 257}, {257, 0, 257}}, 0, nil, "such as largest = 257", []uint8{0, 1, 1, 1, 0, 1}},
		{true, pixels{{0, 257, 257}, {257, 0, 257}}, 257, bits, "", []uint8{0, 1, 1, 1, 0, 1}},
		{true, pixels{{0, 65535, 32896}, {257, 128, 129}}, 0, []uint8{0, 255, 128, 1, 0, 1}, "", []uint8{0, 255, 128, 1, 0, 1}},
		{false, sixteen, 16, []uint8{0, 255, 128, 64, 32, 16}, "", []uint8{0, 16, 8, 4, 2, 1}},
		{false, sixteen, 0, []uint8{0, 16, 8, 4, 2, 1}, "", []uint8{0, 16, 8, 4, 2, 1}},
		{false, sixteen, 8, nil, "16 is not from 0 to largest = 8", []uint8{0, 16, 8, 4, 2, 1}},
	} {
		spec := Spec{Name: pictures(t, c.deep, c.pixels...), Largest: c.largest, Binarization: Gray, Validation: new(0)}
		spec.Test = pictures(t, c.deep, c.pixels...)
		set, err := spec.Open()
		if c.says != "" {
			wantError(t, err, c.says)
		} else if err != nil || !slices.Equal(set.Train().Bytes(), c.want) || !slices.Equal(set.Test().Bytes(), c.want) {
			t.Errorf("case %d: %v, %v; want %v", k, set, err, c.want)
		}
		spec.Rules = FirstRules
		real := spec
		real.Binarization = Real
		if rows, err := opened(t, real).ReadRows(spec.Test); err != nil || rows.Reals()[1] != float32(c.rulesOne[1])/255 {
			t.Errorf("case %d by rules 1: %v, %v", k, rows.Reals(), err)
		}
		set = opened(t, spec)
		rows, err := set.ReadRows(spec.Test)
		for _, values := range [][]uint8{set.Train().Bytes(), set.Test().Bytes(), rows.Bytes()} {
			if !slices.Equal(values, c.rulesOne) {
				t.Errorf("case %d by rules 1: %v (%v), want %v", k, values, err, c.rulesOne)
			}
		}
	}

	exact := opened(t, Spec{Name: pictures(t, true, camera...), Largest: 4095, Binarization: Real, Validation: new(0)})
	if rows, err := exact.ReadRows(pictures(t, true, pixels{{1, 4095, 0}}...)); err != nil || rows.Reals()[0] != float32(1.0/4095) {
		t.Errorf("a pixel of 1 of 4095 is %v (%v)", rows.Reals(), err)
	}
	grey := opened(t, Spec{Name: pictures(t, false, pixels{{0, 200, 255}, {99, 9, 8}}...), Binarization: Gray, Validation: new(0)})
	for folder, says := range map[string]string{
		pictures(t, false, mask...):  "only 0 and 1",
		pictures(t, true, mask...):   "only 0 and 1",
		pictures(t, true, camera...): "white is in doubt, since not all rows are pictures of as many bits, and the numbers go up to 4095",
	} {
		for _, set := range []*Set{grey, opened(t, grey.Spec().ReadLike(Spec{Rules: FirstRules}))} {
			_, err := set.ReadRows(folder)
			wantError(t, err, says)
		}
	}
	palette := t.TempDir()
	blacks := image.NewPaletted(image.Rect(0, 0, 3, 1), color.Palette{color.Black, color.Black})
	blacks.Pix[1] = 1
	if err := os.WriteFile(filepath.Join(palette, "mask.png"), pngOf(blacks), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Spec{Name: palette}.Open()
	wantError(t, err, "mask.png has a palette that gives different numbers the same colour")
	both := pictures(t, true, camera...)
	more(t, both, false, sixteen...)
	for _, largest := range []float64{0, 4095} {
		_, err := Spec{Name: both, Largest: largest}.Open()
		wantError(t, err, "white is in doubt")
	}
}

// The largest number of values that have none is refused.
func TestLargestWithoutEffect(t *testing.T) {
	for name, path := range map[string]string{
		"truth values": arrayAt(t, "bits.npy", "|b1", 0, 1, 1, 0, 1, 0),
		"text":         written(t, "bits.txt", "0 1 1\n1 0 0\n"),
		"keys":         written(t, "keys.json", `{"keys": [1, 3], "train": [[[1], [2]], [[3], []]]}`),
	} {
		spec := Spec{Name: path, Largest: 16}
		_, err := spec.Open()
		wantError(t, err, "largest = 16 has no effect on", name)
		spec.Rules = FirstRules
		opened(t, spec)
	}
}

// Truth values and zeros have the same scale beside any training rows, also beside numbers that largest divides.
func TestBytesWithoutDoubtBesideOtherScales(t *testing.T) {
	levels, fractions := arrayAt(t, "levels.npy", "<i8", 0, 16, 8, 4, 2, 1), arrayAt(t, "fractions.npy", "<f4", 0, 0.5, 1, 0.25, 1, 0.75)
	truth, zeros := arrayAt(t, "truth.npy", "|b1", 0, 1, 1, 0, 1, 0), arrayAt(t, "zeros.npy", "|u1", 0, 0, 0, 0, 0, 0)
	for _, c := range []struct {
		train   string
		largest float64
		other   string
		want    []float64
	}{{levels, 16, truth, []float64{0, 1, 1}}, {levels, 16, zeros, []float64{0, 0, 0}}, {fractions, 0, truth, []float64{0, 1, 1}}, {fractions, 0, zeros, []float64{0, 0, 0}}} {
		for _, b := range []Binarization{Gray, Real} {
			set := opened(t, Spec{Name: c.train, Test: c.other, Largest: c.largest, Binarization: b, Validation: new(0)})
			rows, err := set.ReadRows(c.other)
			if err != nil || !slices.Equal(rows.Floats(0)[0], c.want) || !slices.Equal(set.Test().Floats(0)[0], c.want) {
				t.Errorf("%+v, %v: %v, %v", c, b, rows, err)
			}
		}
	}
}

// Rows of a program may be spins, and so may the rows of another file. A file of several parts is refused.
func TestAnotherFileBesideRowsOfAProgram(t *testing.T) {
	rows := [][]float64{{-1, 1, 1}, {1, -1, -1}}
	made, err := FromRows("spins", Shape{1, 3}, rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{arrayAt(t, "spins.npy", "<i8", -1, 1, 1, 1, -1, -1), arrayAt(t, "bits.npy", "<i8", 0, 1, 1, 1, 0, 0)} {
		if got, err := made.ReadRows(path); err != nil || !slices.Equal(got.Bytes(), []uint8{0, 255, 255, 255, 0, 0}) {
			t.Errorf("%s: %v, %v", path, got.Bytes(), err)
		}
	}
	_, err = made.ReadRows("testdata/formats/25-keras.npz")
	wantError(t, err, "has more than one part")
	glyphs := opened(t, Spec{Name: "glyphs"})
	bits := make([]byte, 784)
	bits[0] = 1
	masks := strings.Replace(small, "(2, 3)", "(1, 784)", 1)
	_, err = glyphs.ReadRows(written(t, "masks.npy", string(npyFile(masks, bits))))
	wantError(t, err, "another scale than glyphs", "only 0 and 1")
	bits[1] = 200
	if _, err = glyphs.ReadRows(written(t, "dark.npy", string(npyFile(masks, bits)))); err != nil {
		t.Error(err)
	}
}

// A file most of whose numbers in a column are far from the training numbers is read with a notice of both ranges, whether the column
// keeps its numbers or not. Missing fields do not count.
func TestNumbersFarFromTheTrainingNumbers(t *testing.T) {
	rows := func(scale float64, first, last int) (text string) {
		for i := first; i <= last; i++ {
			text += fmt.Sprintf("%v,%d\n", scale*float64(i)/40, i)
		}
		return text
	}
	for _, spec := range []Spec{{Binarization: Real}, {Columns: "share=real"}, {Binarization: Real, Gaps: true}, {Binarization: Real, Columns: "share=log", Standardize: true}} {
		spec.Name = written(t, "rows.csv", "share,size\n"+rows(1, 1, 30))
		set := opened(t, spec)
		for text, says := range map[string]string{
			rows(100, 1, 30): `("share", 2.5 to 75, in training rows 0.025 to 0.75): check`, rows(1, 1, 30): "", rows(100, 1, 9): "", rows(1, 1, 9) + rows(100, 1, 9): "",
			rows(100, 1, 11) + rows(1, 1, 10): `"share"`, rows(1, 1, 30) + rows(1, 300, 310): "", rows(1, 300, 310): `("share", 7.5 to 7.75, in training rows 0.025 to 0.75; "size", 300 to 310, in training rows 1 to 30)`,
		} {
			path := written(t, "new.csv", "share,size\n"+text)
			of, err := set.ReadRows(path)
			if err != nil || of.Notice() == "" != (says == "") || !strings.Contains(of.Notice(), says) {
				t.Errorf("%+v: notice %q, want %q (%v)", spec, of.Notice(), says, err)
			}
			gaps, err := set.ReadGaps(written(t, "open.csv", "share,size\n"+text+strings.Repeat(",7\n", 40)))
			if err != nil || gaps.Rows.Notice() == "" != (says == "") {
				t.Errorf("%+v with gaps: notice %q, want %q (%v)", spec, gaps.Rows.Notice(), says, err)
			}
		}
		of, err := set.ReadRows(written(t, "tiny.csv", "share,size\n1e-50,2\n"))
		if err != nil || strings.Contains(of.Notice(), `float32 keeps few of their digits or none (row 1, column "share": 1e-50)`) != (spec.Binarization == Real && spec.Columns == "") {
			t.Errorf("%+v: notice %q of a number near 0 (%v)", spec, of.Notice(), err)
		}
	}
}
