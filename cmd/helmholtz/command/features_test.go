package command

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// Each family writes its features of rows and of units with their names, in each format, with the same numbers.
func TestFeatures(t *testing.T) {
	servedRun(t)
	for run, c := range map[string]struct{ train, kinds, header string }{
		"hm":   {"", "means", "row,h1_1,h1_2,h1_3"},
		"rbm":  {"train --algorithm pcd --batch 10 --layers 2", "means", "row,h1_1,h1_2"},
		"dbn":  {"train --algorithm cd --batch 10 --layers 3,2", "means", "row,h1_1,h1_2,h1_3,h2_1,h2_2"},
		"ppca": {"train ppca --components 2 --binarization real --standardize", "regression bartlett loadings components", "row,factor_1,factor_2"},
		"fa":   {"train factor-analysis --factors 1 --binarization real --standardize", "regression bartlett loadings", "row,factor_1"},
		"ica":  {"train ica --sources 2 --binarization real --standardize", "sources mixing", "row,source_1,source_2"},
		"sc":   {"train sparse-coding --atoms 3 --batch 10 --binarization real --standardize", "codes atoms", "row,atom_1,atom_2,atom_3"},
		"ae":   {"train autoencoder --code 2 --hidden 4 --batch 10", "codes", "row,code_1,code_2"},
	} {
		if c.train != "" {
			succeed(t, append(strings.Fields(c.train), "--columns", "town=categorical", "--dataset", "people.csv", "--epochs", "1", "--out", run)...)
		}
		for i, kind := range strings.Fields(c.kinds) {
			args, lines := []string{"features", run, "--kind", kind}, 61
			if ofUnits := slices.Contains([]string{"loadings", "components", "mixing", "atoms"}, kind); !ofUnits {
				args = append(args, "--rows", "people.csv")
			} else {
				lines = 7
			}
			succeed(t, append(args, "--out", "f.csv")...)
			text, err := os.ReadFile("f.csv")
			if err != nil {
				t.Fatal(err)
			}
			rows := strings.Split(strings.TrimSpace(string(text)), "\n")
			if len(rows) != lines || i == 0 && rows[0] != c.header || lines == 7 && (!strings.HasPrefix(rows[1], "age,") || !strings.HasPrefix(rows[4], "town=Aa,")) {
				t.Errorf("%s, %s: %d lines, %q", run, kind, len(rows), rows[:min(5, len(rows))])
			}
			succeed(t, append(args, "--out", "f.parquet")...)
			if file, err := os.ReadFile("f.parquet"); err != nil || !strings.HasPrefix(string(file), "PAR1") || !strings.Contains(string(file), rows[0][strings.LastIndex(rows[0], ",")+1:]) {
				t.Errorf("%s, %s: error %v, Parquet of %d bytes", run, kind, err, len(file))
			}
			succeed(t, append(args, "--out", "f.npy")...)
			file, err := os.Open("f.npy")
			if err != nil {
				t.Fatal(err)
			}
			header, _, err := npy.ReadHeader(file)
			numbers, failure := io.ReadAll(file)
			if err := errors.Join(err, failure, file.Close()); err != nil || !slices.Equal(header.Shape, []int{lines - 1, strings.Count(rows[0], ",")}) || len(numbers) != 8*header.Shape[0]*header.Shape[1] {
				t.Fatal(run, kind, header, len(numbers), err)
			}
			last := strings.Split(rows[len(rows)-1], ",")
			if v := math.Float64frombits(binary.LittleEndian.Uint64(numbers[len(numbers)-8:])); strconv.FormatFloat(v, 'f', -1, 64) != last[len(last)-1] && fmt.Sprint(v) != last[len(last)-1] {
				t.Errorf("%s, %s: the last number is %v, and %s in CSV", run, kind, v, last[len(last)-1])
			}
		}
	}
	for args, header := range map[string]string{
		"ppca --kind loadings --rotate varimax": "unit,factor_1,factor_2,uniqueness\n", "ppca --kind correlations --rotate promax": "factor,factor_1,factor_2\n1,1",
		"ppca --kind parallel --samples 3": "component,eigenvalue,random_mean,random_95,suggested\n1,", "ppca --rotate promax --rows people.csv": "row,factor_1,factor_2\n1,",
	} {
		succeed(t, append(strings.Fields("features "+args), "--out", "g.csv")...)
		if text, err := os.ReadFile("g.csv"); err != nil || !strings.HasPrefix(string(text), header) {
			t.Errorf("features %s: %s (%v)", args, text, err)
		}
	}
	if err := os.Rename("people.csv", "moved.csv"); err != nil { // Parameters need no data
		t.Fatal(err)
	}
	succeed(t, strings.Fields("features ppca --kind correlations --rotate promax --out g.csv")...)
	if err := os.Rename("moved.csv", "people.csv"); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"--rotate promx: use varimax or promax":                                    {"fa", "--kind", "loadings", "--rotate", "promx"},
		"has no factors to rotate (--rotate)":                                      {"ica", "--kind", "mixing", "--rotate", "promax"},
		"leave out variables that others determine":                                {"fa", "--kind", "fit"},
		"give a file of rows, such as --rows rows.csv":                             {"ppca"},
		"--rows people.csv has no effect with --kind loadings":                     {"ppca", "--kind", "loadings", "--rows", "people.csv"},
		"regression, bartlett, loadings, fit, parallel; give one of these":         {"fa", "--kind", "components"},
		"regression, bartlett, loadings, correlations after --rotate promax; give": {"ppca", "--kind", "fit", "--rotate", "promax"},
		"--samples: --kind regression does not use it":                             {"fa", "--rows", "people.csv", "--samples", "3"},
		"use a name that ends in .csv, .parquet, .npy":                             {"fa", "--out", "f.txt"},
		"--dataset has no effect without --kind fit or parallel":                   {"fa", "--rows", "people.csv", "--dataset", "people.csv"},
		"--kind fit describes the training rows: ":                                 {"ppca", "--kind", "fit", "--dataset", "nowhere.csv"},
		"--stdin has no effect without --rows -":                                   {"fa", "--rows", "people.csv", "--stdin", "csv"},
		"is the file of rows, which it would replace":                              {"fa", "--rows", "people.csv", "--out", "people.csv"},
	} {
		if code, _, out := helmholtz(t, t.Context(), append([]string{"features"}, args...)...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("features %v says %s, not %s", args, out, says)
		}
	}
}
