package dataset

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"pgregory.net/rapid"
)

// stored returns what Save writes of a set.
func stored(t interface{ Fatal(...any) }, s *Set) []byte {
	var b bytes.Buffer
	if err := s.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ownSet is a set of five rows of 2×3 units, grey or not.
func ownSet(t interface{ Fatal(...any) }, b Binarization) *Set {
	var values [][]float64
	for i := range 5 {
		values = append(values, []float64{0, 1, float64(i) / 5, 0.5, 0.25, 1})
	}
	s, err := Spec{Name: "own", Binarization: b, Validation: new(1), Seed: 3}.FromRows(Shape{2, 3}, values, values[:2])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantEqualSets(t interface{ Errorf(string, ...any) }, got, want *Set) {
	if got.Fingerprint() != want.Fingerprint() || got.MadeFromRows() != want.MadeFromRows() || got.Name() != want.Name() {
		t.Errorf("set %s of fingerprint %s, not %s of %s", got.Name(), got.Fingerprint(), want.Name(), want.Fingerprint())
	}
	for i, split := range []Split{got.Train(), got.Validation(), got.Test()} {
		same := []Split{want.Train(), want.Validation(), want.Test()}[i]
		if split.Name != same.Name || !slices.Equal(split.Bytes(), same.Bytes()) || !slices.Equal(split.Labels, same.Labels) {
			t.Errorf("%s rows are %v with labels %v, not %v with %v", split.Name, split.Bytes(), split.Labels, same.Bytes(), same.Labels)
		}
	}
}

func TestAStoredSetIsLoadedAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := Shape{rapid.IntRange(1, 4).Draw(t, "height"), rapid.IntRange(1, 5).Draw(t, "width")}
		spec := Spec{
			Name: rapid.StringMatching(`[a-z]{1,9}-own`).Draw(t, "name"), Seed: rapid.Uint64().Draw(t, "seed"),
			Binarization: rapid.SampledFrom([]Binarization{Fixed, Stochastic}).Draw(t, "binarization"),
			Validation:   new(rapid.IntRange(0, 2).Draw(t, "validation")),
		}
		value := rapid.Float64Range(0, 1)
		if spec.Binarization == Fixed { // of few values, rounding would make many a constant
			value = rapid.SampledFrom([]float64{0, 1})
		}
		row := rapid.SliceOfN(value, shape.Units(), shape.Units())
		set, err := spec.FromRows(shape, rapid.SliceOfN(row, 4, 9).Draw(t, "train"), rapid.SliceOfN(row, 0, 3).Draw(t, "test"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Load(bytes.NewReader(stored(t, set)))
		if err != nil {
			t.Fatal(err)
		}
		wantEqualSets(t, got, set)
		if a, b := got.Spec(), set.Spec(); a.Binarization != b.Binarization || a.Seed != b.Seed || *a.Validation != *b.Validation {
			t.Errorf("spec %+v, not %+v", a, b)
		}
	})
}

func TestAStoredSetHasItsLabelsAndItsSpec(t *testing.T) {
	glyphs, err := Spec{Name: "glyphs", Subset: 50}.Open()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(bytes.NewReader(stored(t, glyphs)))
	if err != nil {
		t.Fatal(err)
	}
	wantEqualSets(t, got, glyphs)
	again, err := got.Spec().Open()
	if err != nil {
		t.Fatal(err)
	}
	wantEqualSets(t, again, glyphs)
}

func TestAStoredSetHasItsWeights(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"rows.csv": "0,1\n1,0\n1,1\n0,0\n1,0\n", "weights.csv": "1\n0\n2.5\n1\n3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Spec{Name: filepath.Join(dir, "rows.csv"), WeightFile: filepath.Join(dir, "weights.csv"), Validation: new(1)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(bytes.NewReader(stored(t, set)))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Train().Weights) == 0 || !slices.Equal(got.Train().Weights, set.Train().Weights) {
		t.Errorf("weights %v, not %v", got.Train().Weights, set.Train().Weights)
	}
}

func TestAStoredBinarySetTakesABitAValue(t *testing.T) {
	binary, gray := len(stored(t, ownSet(t, Fixed))), len(stored(t, ownSet(t, Stochastic)))
	// 4·6, 6 and 2·6 values are 3, 1 and 2 bytes of bits.
	if saved := gray - binary; saved != 42-6+len("stochastic")-len("fixed") {
		t.Errorf("%d bytes of grey values, %d of binary ones", gray, binary)
	}
}

func TestDamagedStoredSetsAreRefused(t *testing.T) {
	good := string(stored(t, ownSet(t, Fixed)))
	for name, c := range map[string]struct{ file, want string }{
		"nothing":                {"", "begins with"},
		"another file":           {npy.Magic + good, "begins with"},
		"another version":        {strings.Replace(good, "set 1", "set 2", 1), "begins with"},
		"no rows":                {good[:strings.LastIndex(good, "}\n")+2], "claims 6 bytes"},
		"a byte too few":         {good[:len(good)-1], "there are 5"},
		"a byte too many":        {good + "x", "there are more"},
		"a flipped bit":          {good[:len(good)-3] + string(good[len(good)-3]^4) + good[len(good)-2:], "checksum"},
		"another seed":           {strings.Replace(good, `"seed":3`, `"seed":2`, 1), "checksum"},
		"another checksum":       {strings.Replace(good, `"checksum":"`, `"checksum":"0`, 1), "checksum"},
		"another shape":          {strings.Replace(good, `"width":3`, `"width":2`, 1), "claims"},
		"half a header":          {good[:60], "does not end"},
		"a header without end":   {storedMagic + strings.Repeat(" ", 1<<20), "does not end"},
		"no JSON":                {storedMagic + "rows\n", "header"},
		"an unknown setting":     {strings.Replace(good, `"bits"`, `"bytes"`, 1), "unknown field"},
		"no units":               {strings.Replace(good, `"width":3`, `"width":0`, 1), "shape 2×0"},
		"more than there can":    {strings.Replace(good, `"width":3`, `"width":4611686018427387905`, 1), "shape"},
		"more rows than allowed": {strings.Replace(good, `"rows":4`, `"rows":1099511627776`, 1), "1099511627779 rows"},
		"fewer rows than none":   {strings.Replace(good, `"rows":4`, `"rows":-4`, 1), "-4 rows"},
		"nothing to train on":    {strings.Replace(good, `"rows":4`, `"rows":0`, 1), "no rows to train on"},
		"a nameless set":         {strings.Replace(good, `"own"`, `""`, 1), "without a name"},
		"values of three bits":   {strings.Replace(good, `"bits":1`, `"bits":3`, 1), "3 bits"},
	} {
		_, err := Load(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// withoutChecksum is a stored set as earlier versions wrote it.
func withoutChecksum(file string) string {
	at := strings.Index(file, checksumMark)
	return file[:at] + file[at+len(checksumMark)+64+1:]
}

// Sets of earlier versions are loaded, and refused where their rows are not those of
// their fingerprint.
func TestAStoredSetOfAnEarlierVersion(t *testing.T) {
	want := ownSet(t, Fixed)
	file := withoutChecksum(string(stored(t, want)))
	got, err := Load(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	wantEqualSets(t, got, want)
	_, err = Load(strings.NewReader(file[:len(file)-3] + string(file[len(file)-3]^4) + file[len(file)-2:]))
	if err == nil || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("a flipped bit: error %v", err)
	}
}

// Each bit of a stored set that is flipped is noticed, or changes nothing.
func TestFlippedBitsOfAStoredSetAreNoticed(t *testing.T) {
	labeled, err := Spec{Name: "miniglyphs", Subset: 5, Validation: new(2)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	labeled.test = labeled.validation // as large as the others
	for name, want := range map[string]*Set{"rows": ownSet(t, Fixed), "labels": labeled} {
		file := stored(t, want)
		for i := range file {
			for bit := range 8 {
				damaged := bytes.Clone(file)
				damaged[i] ^= 1 << bit
				if got, err := Load(bytes.NewReader(damaged)); err == nil {
					wantEqualSets(t, got, want)
					if !reflect.DeepEqual(got.Spec(), want.Spec()) {
						t.Fatalf("%s: bit %d of byte %d flipped is read as %+v", name, bit, i, got.Spec())
					}
				}
			}
		}
	}
}

// FuzzLoad checks that what is read can be stored and read again, FuzzLoadAnyRows does
// so whatever the fingerprint that the file gives.
func FuzzLoad(f *testing.F) { wantSameStoredSet(f, Load) }

func FuzzLoadAnyRows(f *testing.F) {
	wantSameStoredSet(f, func(r io.Reader) (*Set, error) {
		s, _, err := load(r, 0, nil)
		return s, err
	})
}

func wantSameStoredSet(f *testing.F, load func(io.Reader) (*Set, error)) {
	for _, b := range []Binarization{Fixed, Stochastic} {
		file := stored(f, ownSet(f, b))
		f.Add(file)
		f.Add(file[:len(file)/2])
		f.Add([]byte(withoutChecksum(string(file)))) // what is changed in it is not noticed
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var s *Set
		var err error
		fuzz.Bounded(t, len(file), func() { s, err = load(bytes.NewReader(file)) })
		if err != nil {
			return
		}
		again, err := Load(bytes.NewReader(stored(t, s)))
		if err != nil {
			t.Fatal(err)
		}
		wantEqualSets(t, again, s)
	})
}
