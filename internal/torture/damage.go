//go:build unix

package torture

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// damages are the ways to damage a file, by name. Each returns changed bytes, or nil if it does not
// apply.
var damages = []struct {
	name string
	to   func(draw *rand.Rand, content []byte) []byte
}{
	{"bit", func(draw *rand.Rand, b []byte) []byte {
		b[draw.IntN(len(b))] ^= 1 << draw.IntN(8)
		return b
	}},
	{"byte", func(draw *rand.Rand, b []byte) []byte {
		b[draw.IntN(len(b))] ^= byte(1 + draw.IntN(255))
		return b
	}},
	{"number", hostileNumber},
	{"cut", func(draw *rand.Rand, b []byte) []byte { return b[:draw.IntN(len(b))] }},
	{"zeroed", func(draw *rand.Rand, b []byte) []byte {
		from, to := block(draw, b)
		clear(b[from:to])
		return b
	}},
	{"repeated", func(draw *rand.Rand, b []byte) []byte {
		from, to := block(draw, b)
		return bytes.Join([][]byte{b[:to], b[from:]}, nil)
	}},
	{"missing", func(draw *rand.Rand, b []byte) []byte {
		from, to := block(draw, b)
		return append(b[:from], b[to:]...)
	}},
	{"lines-swapped", func(draw *rand.Rand, b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		i, j := draw.IntN(len(lines)), draw.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return bytes.Join(lines, nil)
	}},
	{"line-doubled", func(draw *rand.Rand, b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		i := draw.IntN(len(lines))
		lines[i] = append(bytes.Clone(lines[i]), lines[i]...)
		return bytes.Join(lines, nil)
	}},
	{"line-missing", func(draw *rand.Rand, b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		lines[draw.IntN(len(lines))] = nil
		return bytes.Join(lines, nil)
	}},
	{"brackets", func(draw *rand.Rand, b []byte) []byte {
		at := draw.IntN(len(b) + 1)
		return bytes.Join([][]byte{b[:at], bytes.Repeat([]byte("["), 2_000_000), b[at:]}, nil)
	}},
	{"longer", func(_ *rand.Rand, b []byte) []byte { return append(b, "1\n"...) }},
	{"empty", func(*rand.Rand, []byte) []byte { return []byte{} }},
}

// block returns a random range within bytes, of at most 512 bytes.
func block(draw *rand.Rand, b []byte) (from, to int) {
	from = draw.IntN(len(b))
	return from, from + 1 + draw.IntN(min(512, len(b)-from))
}

var (
	numbers = regexp.MustCompile(`-?\b[0-9]+(\.[0-9]+)?\b`)
	hostile = []string{"0", "-1", "1", "7", "NaN", "nan", "inf", "1e999", "1e-999", "9223372036854775807", "18446744073709551616",
		"1000000000", "-9223372036854775808", "0.5", "2000000000", "123456789012345678901234567890", "0x7fffffff", "\"text\"", "[1]", ""}
)

// hostileNumber replaces a number in a text by an unexpected one.
func hostileNumber(draw *rand.Rand, b []byte) []byte {
	places := numbers.FindAllIndex(b, -1)
	if len(places) == 0 {
		return nil
	}
	at := places[draw.IntN(len(places))]
	by := hostile[draw.IntN(len(hostile)+2)%len(hostile)]
	if draw.IntN(4) == 0 {
		n, _ := strconv.Atoi(string(b[at[0]:at[1]])) // 0 if it is not an integer
		by = strconv.Itoa(n + 1)
	}
	return bytes.Join([][]byte{b[:at[0]], []byte(by), b[at[1]:]}, nil)
}

// replacements lists what can replace a file, by name.
var replacements = []struct {
	name string
	make func(path string) error
}{
	{"nothing", func(string) error { return nil }},
	{"directory", func(path string) error { return os.Mkdir(path, 0o755) }},
	{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }},
	{"loop", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
}

// sparse is the size of a sparse file.
const sparse = 3 << 30

// exchanged is the kind of damage that replaces a file by the file of another seed.
const exchanged = "exchanged"

func kinds() []string {
	names := []string{"sparse", "foreign", exchanged}
	for _, d := range damages {
		names = append(names, d.name)
	}
	for _, r := range replacements {
		names = append(names, "replaced-by-"+r.name)
	}
	if os.Geteuid() != 0 { // root may read everything
		names = append(names, "unreadable")
	}
	return names
}

// damage damages the file at a path in a given way. It returns false if the way does not apply.
// foreign is a file that may replace it.
func damage(draw *rand.Rand, kind, path, foreign string) (bool, error) {
	if by, is := strings.CutPrefix(kind, "replaced-by-"); is {
		if err := os.Remove(path); err != nil {
			return false, err
		}
		for _, r := range replacements {
			if r.name == by {
				return true, r.make(path)
			}
		}
	}
	switch kind {
	case "sparse":
		return true, os.Truncate(path, sparse)
	case "unreadable":
		return true, os.Chmod(path, 0)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	damaged, err := damagedBytes(draw, kind, bytes.Clone(content), foreign)
	if err != nil || damaged == nil || bytes.Equal(damaged, content) {
		return false, err
	}
	return true, os.WriteFile(path, damaged, 0o644)
}

func damagedBytes(draw *rand.Rand, kind string, content []byte, foreign string) ([]byte, error) {
	if kind == "foreign" || kind == exchanged {
		return os.ReadFile(foreign)
	}
	for _, d := range damages {
		switch {
		case d.name == kind && len(content) == 0:
			return nil, nil
		case d.name == kind:
			return d.to(draw, content), nil
		}
	}
	return nil, fmt.Errorf("no damage is named %s", kind)
}
