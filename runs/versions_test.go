package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// versions are the folders of run directories that versions of this program wrote:
// the same experiments in each. The command's tests resume them; these read them.
const versions = "../cmd/helmholtz/command/testdata/runs"

// runsOf are the run directories of a version, by their paths in its folder.
func runsOf(t *testing.T, version int) []string {
	t.Helper()
	home := filepath.Join(versions, fmt.Sprint("v", version))
	files, err := filepath.Glob(filepath.Join(home, "*", "*", experimentFile))
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs of version %d (%v)", version, err)
	}
	var dirs []string
	for _, file := range files {
		dirs = append(dirs, strings.TrimPrefix(filepath.Dir(file), home))
	}
	return dirs
}

func in(version int, dir, file string) string {
	return filepath.Join(versions, fmt.Sprint("v", version), dir, file)
}

// made is what the runs of a version were made with, and of which of them later
// versions have changed the arithmetic on purpose.
type made struct {
	InstructionSet string `json:"instruction_set"`
	Recomputed     []string
}

func madeWith(t *testing.T, version int) (made made) {
	t.Helper()
	text, err := os.ReadFile(in(version, "", "made.json"))
	if err := errors.Join(err, json.Unmarshal(text, &made)); err != nil {
		t.Fatal(err)
	}
	return made
}

// Runs of the same experiment are read alike from the files of both versions, but
// for the time that they took.
func TestVersionsAreReadAlike(t *testing.T) {
	dirs := runsOf(t, 2)
	if diff := cmp.Diff(dirs, runsOf(t, 1)); diff != "" {
		t.Fatalf("the versions have different runs (-2 +1):\n%s", diff)
	}
	one, two := madeWith(t, 1), madeWith(t, 2)
	if one.InstructionSet != two.InstructionSet {
		t.Skipf("version 1 was written with %s, version 2 with %s: their numbers differ", one.InstructionSet, two.InstructionSet)
	}
	for _, dir := range dirs {
		if slices.Contains(one.Recomputed, strings.Split(dir, "/")[1]) {
			continue
		}
		t.Run(dir[1:], func(t *testing.T) {
			one, two := load(t, 1, dir, checkpointFile), load(t, 2, dir, checkpointFile)
			wantAlike(t, one, two)
			if two.position.BestEpoch > 0 {
				wantAlike(t, load(t, 1, dir, bestFile), load(t, 2, dir, bestFile))
			}
			epochs, err := readMetrics(in(1, dir, metricsFile), math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			again, err := readMetrics(in(2, dir, metricsFile), math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(epochs, again, cmpopts.IgnoreFields(Epoch{}, "Seconds")); diff != "" || len(again) != two.position.Epoch {
				t.Errorf("%d epochs after epoch %d (-1 +2):\n%s", len(again), two.position.Epoch, diff)
			}
		})
	}
}

func load(t *testing.T, version int, dir, file string) *checkpoint {
	t.Helper()
	c, err := loadCheckpoint(in(version, dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantAlike checks that checkpoints of the two versions have the same tensors at
// the same place in training.
func wantAlike(t *testing.T, one, two *checkpoint) {
	t.Helper()
	if one.position.Format != 1 || two.position.Format != 2 {
		t.Errorf("checkpoints of the formats %d and %d", one.position.Format, two.position.Format)
	}
	if diff := cmp.Diff(one.snapshot.Tensors, two.snapshot.Tensors); diff != "" || len(two.snapshot.Tensors) == 0 {
		t.Errorf("%d tensors (-1 +2):\n%s", len(two.snapshot.Tensors), diff)
	}
	// Version 1 writes sums over no rows as 0, version 2 leaves them out.
	alike := []cmp.Option{cmpopts.IgnoreFields(position{}, "Format")}
	if one.position.Rows == 0 {
		alike = append(alike, cmpopts.IgnoreFields(position{}, "Sums"))
	}
	if diff := cmp.Diff(one.position, two.position, alike...); diff != "" {
		t.Errorf("place in training (-1 +2):\n%s", diff)
	}
}

// What version 2 has and version 1 has not: checksums.
func TestOnlyVersion2HasChecksums(t *testing.T) {
	for version, has := range map[int]bool{1: false, 2: true} {
		for _, dir := range runsOf(t, version) {
			b, err := os.ReadFile(in(version, dir, checkpointFile))
			if err != nil {
				t.Fatal(err)
			}
			f, err := safetensors.Unmarshal(b)
			if err != nil {
				t.Fatal(err)
			}
			if f.Sealed() != has {
				t.Errorf("version %d, %s: the checkpoint has a checksum: %v", version, dir, f.Sealed())
			}
			lines, err := os.ReadFile(in(version, dir, metricsFile))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(lines)) {
				if _, seal := unseal([]byte(strings.TrimSuffix(line, "\n"))); (seal != "") != has {
					t.Errorf("version %d, %s: a line has the checksum %q", version, dir, seal)
				}
			}
		}
	}
}

// That files of earlier versions have no checksum is said, once.
func TestMissingChecksumsAreSaidOnce(t *testing.T) {
	var said strings.Builder
	before := unsealed.to
	unsealed.to, unsealed.Once = &said, sync.Once{}
	defer func() { unsealed.to = before }()
	for _, dir := range runsOf(t, 1) {
		load(t, 1, dir, checkpointFile)
	}
	first := in(1, runsOf(t, 1)[0], checkpointFile)
	if text := said.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, first+" has no checksum") {
		t.Errorf("of runs without checksums is said %q", text)
	}
}
