//go:build unix

package command

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestNoDamageIsSilent damages the files that the program reads: either it works as if nothing had
// happened, or it refuses the file by name.
func TestNoDamageIsSilent(t *testing.T) {
	one := prepared(t, "train "+tiny+" --keep 1 --record-steps 1 --measure every=1,samples=2 --out r", "train "+tiny+" --seed 7 --out s",
		"train "+tiny+" --keep 1 --record-steps 1 --measure every=1,samples=2 --seed 7 --out twin")
	seeds := prepared(t, "train "+tiny+" --seeds 3 --out r", "train "+tiny+" --seed 7 --out s")
	rows := prepared(t, "train "+tiny+" --seed 7 --out s")
	for _, part := range []string{"half", "whole"} {
		if err := os.CopyFS(filepath.Join(rows, part), os.DirFS(filepath.Join(fixtures, newest, "rows", part))); err != nil {
			t.Fatal(err)
		}
	}
	const evaluation = " --samples 2 --log-z2 0 --json"
	inspections := []string{"eval r" + evaluation, "history r --format csv", "compare r --format csv", "sample r --n 2 --out sample.png"}
	for _, in := range []struct {
		name, begin string
		files       []string
		twin        func(file string) string
		commands    []string
	}{
		{"run", one, filesIn(t, one, "r"), func(file string) string { return "twin" + strings.TrimPrefix(file, "r") }, append(inspections,
			"eval r --checkpoint best"+evaluation, "eval r --checkpoint 1"+evaluation, "compare r s --samples 2 --json --out curves.svg",
			"plot r --samples 2 --log-z2 10 --format svg --out figures", "inpaint r --mask left --n 1 --chains 1 --sweeps 1 --candidates 2 --out i.png",
			"sample r --kind reconstructions --n 2 --out s.png",
			"train "+tiny+" --keep 1 --record-steps 1 --measure every=1,samples=2 --out r", "train --resume r", "train --resume r --epochs 3",
			"train --config s/experiment.toml --from r --from-checkpoint best --out t", "train --config s/experiment.toml --from r --out t")},
		{"seeds", seeds, filesIn(t, seeds, "r"), func(file string) string {
			if other := strings.Replace(file, "seed-1/", "seed-2/", 1); other != file {
				return other
			}
			if _, name, within := strings.Cut(file, "/seed-"); within {
				return filepath.Join("r", "seed-1", filepath.Base(name))
			}
			return ""
		}, []string{"eval r" + evaluation, "eval r --table e.json" + evaluation, "history r --format csv",
			"compare r --format csv", "train --resume r", "train " + tiny + " --seeds 3 --out r", "train --resume r --epochs 3"}},
		{"rows", rows, append(filesIn(t, rows, "half"), filesIn(t, rows, "whole")...), nil, []string{"train --resume half", "eval half" + evaluation,
			"train --resume whole", "eval whole" + evaluation, "compare whole half --format csv", "sample whole --kind reconstructions --n 2 --out s.png"}},
	} {
		t.Run(in.name, func(t *testing.T) {
			input{name: in.name, begin: in.begin, files: in.files, foreign: filesIn(t, in.begin, "s"), twin: in.twin, commands: in.commands}.try(t, 1200)
		})
	}
	for _, format := range []string{"text.txt", "array.npy", "images-ubyte", "text.txt.gz", "array.npy.gz", "images-ubyte.gz"} {
		data := t.TempDir()
		writeData(t, filepath.Join(data, format), 64, 1)
		writeData(t, filepath.Join(data, "test-"+format), 9, 2)
		files := []string{format, "test-" + format}
		train := fmt.Sprintf("train --dataset %s --test test-%s --layers 3 --samples 2 --epochs 1 --out ", format, format)
		t.Run("new-"+format, func(t *testing.T) {
			input{name: format, begin: data, files: files, foreign: files, commands: []string{train + "r"}, unsealed: true}.try(t, 200)
		})
		runInto(t, data, train+"r")
		t.Run("known-"+format, func(t *testing.T) {
			input{name: format, begin: data, files: files, foreign: files, commands: []string{
				"eval r" + evaluation, "train --resume r --epochs 2", "sample r --kind reconstructions --n 2 --out s.png",
			}}.try(t, 200)
		})
	}
}

// filesIn lists the files below a directory within another.
func filesIn(t *testing.T, dir, name string) []string {
	t.Helper()
	var files []string
	err := filepath.Walk(filepath.Join(dir, name), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			var file string
			file, err = filepath.Rel(dir, path)
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// writeData writes rows of nine values into a file whose name decides the format.
func writeData(t *testing.T, path string, rows int, seed uint64) {
	t.Helper()
	draw := rand.New(rand.NewPCG(seed, 1))
	values := make([]byte, 9*rows)
	for i := range values {
		values[i] = byte(draw.IntN(2))
	}
	var b bytes.Buffer
	switch name := filepath.Base(path); {
	case strings.Contains(name, "text"):
		for row := range slices.Chunk(values, 9) {
			fmt.Fprintln(&b, strings.Trim(fmt.Sprint(row), "[]"))
		}
	case strings.Contains(name, "array"):
		header := fmt.Sprintf("%-117s\n", fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 3, 3), }", rows))
		b.WriteString("\x93NUMPY\x01\x00")
		b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
		b.WriteString(header)
		b.Write(values)
	default:
		for _, n := range []uint32{0x803, uint32(rows), 3, 3} {
			b.Write(binary.BigEndian.AppendUint32(nil, n))
		}
		b.Write(values)
	}
	if strings.HasSuffix(path, ".gz") {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(b.Bytes()) // into memory
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		b = packed
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An input is a folder that commands read.
type input struct {
	name, begin string // begin is the folder
	// files are the files to damage, by their paths within the folder.
	files []string
	// foreign are files that replace others.
	foreign []string
	// twin returns the path of the same file in another seed's run of the experiment, which
	// replaces a file, or "" if there is none. Optional.
	twin     func(file string) string
	commands []string // words separated by spaces
	// unsealed reports that the files have no checksum: damaged files may be valid, and the program
	// may do something else with them.
	unsealed bool
}

// try damages one file per trial, in a random way, and runs a command on the files. The command
// must either do what it does with intact files, or refuse the damaged file by name. Without
// -torture, there are few trials.
func (in input) try(t *testing.T, trials int) {
	if !*allTrials {
		trials = 1 + trials/300
	}
	kinds := kindsOfDamage()
	whole := map[string]outcome{}
	for i := range trials {
		draw := drawing(fmt.Sprint(in.name, i))
		kind := kinds[draw.IntN(len(kinds))]
		file, command := in.files[draw.IntN(len(in.files))], in.commands[draw.IntN(len(in.commands))]
		want, known := whole[command]
		if !known {
			want = outcomeOf(t, copied(t, in.begin), command)
			if want.code != 0 {
				t.Fatalf("%s ended with %d and said %q", command, want.code, want.stderr)
			}
			whole[command] = want
		}
		name := fmt.Sprintf("%d-%s-%s-%s", i, strings.Fields(command)[0], kind, strings.ReplaceAll(file, "/", "~"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repeatable(t)
			dir := copied(t, in.begin)
			foreign := in.foreign[draw.IntN(len(in.foreign))]
			if kind == exchanged {
				foreign = ""
				if in.twin != nil {
					foreign = in.twin(file)
				}
				if foreign == "" {
					return
				}
			}
			foreign = filepath.Join(dir, foreign)
			spoilt, err := damage(draw, kind, filepath.Join(dir, file), foreign)
			if err != nil {
				t.Fatal(err)
			}
			if !spoilt { // this damage does not apply
				return
			}
			in.check(t, dir, file, command, want)
		})
	}
}

type outcome struct {
	ended
	files map[string]string
}

func outcomeOf(t *testing.T, dir, command string) outcome {
	t.Helper()
	e := runIn(t, dir, strings.Fields(command), 0)
	return outcome{e, filesOf(t, dir)}
}

func (in input) check(t *testing.T, dir, file, command string, want outcome) {
	t.Helper()
	before := filesOf(t, dir)
	got := outcomeOf(t, dir, command)
	switch {
	case got.code < 0:
		t.Errorf("%s of a damaged %s was killed and said %q", command, file, got.stderr)
	case got.code > 0 && !says(got.stderr, file):
		t.Errorf("%s of a damaged %s ended with %d and said only %q", command, file, got.code, got.stderr)
	}
	if got.code != 0 || in.unsealed {
		return
	}
	if got.stdout != want.stdout {
		t.Errorf("%s of a damaged %s printed %q, want %q", command, file, got.stdout, want.stdout)
	}
	all := maps.Clone(got.files)
	maps.Copy(all, want.files)
	for path := range all {
		untouched := path == file && got.files[path] == before[path]
		if got.files[path] != want.files[path] && !untouched {
			t.Errorf("%s of a damaged %s left %s as %.500q, want %.500q", command, file, path, got.files[path], want.files[path])
		}
	}
}

// says reports whether a message has every part of a path.
func says(message, path string) bool {
	parts := strings.Split(path, "/")
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) })
}

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

// kindsOfDamage returns the names of all kinds of damage.
func kindsOfDamage() []string {
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
