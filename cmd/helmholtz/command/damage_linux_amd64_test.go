package command

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/torture"
)

// TestNoDamageIsSilent damages the files that the program reads: either it works as if nothing had
// happened, or it refuses the file by name.
func TestNoDamageIsSilent(t *testing.T) {
	defer torture.Report(os.Stdout, time.Now())
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
			torture.Input{Program: tortured(t), Name: in.name, Begin: in.begin, Files: in.files, Foreign: filesIn(t, in.begin, "s"), Twin: in.twin, Commands: in.commands}.Try(t, 1200)
		})
	}
	for _, format := range []string{"text.txt", "array.npy", "images-ubyte", "text.txt.gz", "array.npy.gz", "images-ubyte.gz"} {
		data := t.TempDir()
		writeData(t, filepath.Join(data, format), 64, 1)
		writeData(t, filepath.Join(data, "test-"+format), 9, 2)
		files := []string{format, "test-" + format}
		train := fmt.Sprintf("train --dataset %s --test test-%s --layers 3 --samples 2 --epochs 1 --out ", format, format)
		t.Run("new-"+format, func(t *testing.T) {
			torture.Input{Program: tortured(t), Name: format, Begin: data, Files: files, Foreign: files, Commands: []string{train + "r"}, Unsealed: true}.Try(t, 200)
		})
		runInto(t, data, train+"r")
		t.Run("known-"+format, func(t *testing.T) {
			torture.Input{Program: tortured(t), Name: format, Begin: data, Files: files, Foreign: files, Commands: []string{
				"eval r" + evaluation, "train --resume r --epochs 2", "sample r --kind reconstructions --n 2 --out s.png",
			}}.Try(t, 200)
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
