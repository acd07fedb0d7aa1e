package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
)

// packFrom packs rows from a number of values on, during a test.
func packFrom(t *testing.T, values int) {
	before := leastPacked
	leastPacked = values
	t.Cleanup(func() { leastPacked = before })
}

// bitRows writes an NPY array of random bytes of 0 and 1, of some type, and returns its path.
func bitRows(t *testing.T, kind string, rows, units int) string {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]byte, rows*units)
	for i := range values {
		values[i] = byte(random.Uint32() >> 31)
	}
	path := filepath.Join(t.TempDir(), "rows.npy")
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", kind, rows, units)
	if err := os.WriteFile(path, npyFile(header, values), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A packed set must have the values, the divisions and the fingerprint of the same set in bytes, also after it
// was stored; a split that is small enough has bytes again.
func TestPackedRowsAreTheSameAsBytes(t *testing.T) {
	for _, units := range []int{13, 16} {
		for _, kind := range []string{"|b1", "|u1"} {
			spec := Spec{Name: bitRows(t, kind, 200, units), Validation: new(30), Subset: 120, Seed: 3}
			want, err := spec.Open()
			if err != nil {
				t.Fatal(err)
			}
			packFrom(t, 100*units)
			packed, err := spec.Open()
			if err != nil {
				t.Fatal(err)
			}
			if !packed.Train().AreBits() || packed.Test().AreBits() {
				t.Fatalf("%d training and %d test values are in %d and %d bytes of bits", len(want.Train().Bytes()), len(want.Test().Bytes()), packed.Train().Size(), packed.Test().Size())
			}
			loaded, err := Load(bytes.NewReader(stored(t, packed)))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Set{packed, loaded} {
				if s.Fingerprint() != want.Fingerprint() || s.String() != want.String() || s.Notice() != want.Notice() {
					t.Errorf("%v of fingerprint %.8s, not %v of %.8s", s, s.Fingerprint(), want, want.Fingerprint())
				}
				got, of := s.Train(), want.Train()
				if err := got.Check(); err != nil {
					t.Error(err)
				}
				some, same := got.Subset(20, 5), of.Subset(20, 5)
				if string(some.Bytes()) != string(same.Bytes()) {
					t.Errorf("a subset of packed rows is %v, not %v", some.Bytes(), same.Bytes())
				}
				for i := range of.Rows * units {
					if got.At(i) != of.At(i) || got.Row(i / units)[i%units] != of.Bytes()[i] {
						t.Fatalf("value %d is %v, not %v", i, got.At(i), of.At(i))
					}
				}
			}
			leastPacked = 1 << 28
		}
	}
}

// Bytes with a third value are read as bytes, and settings that give 0 and 1 another meaning hold for bits.
func TestPackedRowsKeepTheirMeaning(t *testing.T) {
	packFrom(t, 1)
	path := bitRows(t, "|u1", 20, 9)
	_, err := Spec{Name: path, Missing: Codes{"1"}}.Open()
	wantError(t, err, "a missing value (1)")
	s, err := Spec{Name: path, Binarization: Real, Largest: 2}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Train().Rows * 9 {
		if v := s.Train().At(i); v != 0 && v != 0.5 {
			t.Fatalf("1 of 2 is %v", v)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file[len(file)-1] = 200
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = (Spec{Name: path, Binarization: Gray}).Open(); err != nil || s.Train().AreBits() {
		t.Errorf("a set with the value 200 has %d bytes of bits (%v)", s.Train().Size(), err)
	}
}

// Opening a set of 0 and 1 must take an eighth of a byte a value, the drawn tenth once more, and eight bytes a row for
// the order of the draw, so that 10⁷ rows of 784 units take less than 2 GB.
func TestPackedRowsTakeABitAValue(t *testing.T) {
	const rows, units = 8_000, 784
	packFrom(t, 1<<18)
	path := bitRows(t, "|b1", rows, units)
	var s *Set
	took := filetest.Allocated(func() {
		var err error
		if s, err = (Spec{Name: path}).Open(); err != nil {
			t.Fatal(err)
		}
	})
	bits := rows * units / 8
	if most := uint64(bits + bits/10 + 8*rows + 1320<<10); took > most {
		t.Errorf("%d bytes were taken for %d rows of %d units, want at most %d", took, rows, units, most)
	}
	if s.Train().Rows != rows*9/10 || s.Train().Size() != bits*9/10 {
		t.Errorf("%v has %d bytes of bits", s.Train(), s.Train().Size())
	}
}
