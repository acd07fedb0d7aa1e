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

// versions has the run directories that earlier versions of this program wrote, with the same
// experiments in each. The command's tests resume them; these tests read them.
const versions = "../cmd/helmholtz/command/testdata/runs"

// runsOf returns the run directories of a version, by their paths in its folder.
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

// made records what the runs of a version were made with, and which of them later versions
// deliberately compute differently.
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

// The files of all versions are read alike for the same experiments, except for times.
func TestVersionsAreReadAlike(t *testing.T) {
	dirs := runsOf(t, checkpointFormat)
	for version := 1; version < checkpointFormat; version++ {
		if diff := cmp.Diff(dirs, runsOf(t, version)); diff != "" {
			t.Fatalf("version %d has other runs (-newest +it):\n%s", version, diff)
		}
		was, is := madeWith(t, version), madeWith(t, checkpointFormat)
		if was.InstructionSet != is.InstructionSet {
			t.Skipf("version %d was written with %s, the newest with %s: their numbers differ", version, was.InstructionSet, is.InstructionSet)
		}
		for _, dir := range dirs {
			if slices.Contains(was.Recomputed, strings.Split(dir, "/")[1]) {
				continue
			}
			t.Run(fmt.Sprint(version, dir), func(t *testing.T) {
				was, is := load(t, version, dir, checkpointFile), load(t, checkpointFormat, dir, checkpointFile)
				wantAlike(t, version, was, is)
				if is.position.BestEpoch > 0 {
					wantAlike(t, version, load(t, version, dir, bestFile), load(t, checkpointFormat, dir, bestFile))
				}
				epochs, err := readMetrics(in(version, dir, metricsFile), binding{""}, math.MaxInt)
				if err != nil {
					t.Fatal(err)
				}
				again, err := readMetrics(in(checkpointFormat, dir, metricsFile), binding{is.position.Experiment}, math.MaxInt)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(epochs, again, cmpopts.IgnoreFields(Epoch{}, "Seconds")); diff != "" || len(again) != is.position.Epoch {
					t.Errorf("%d epochs after epoch %d (-was +is):\n%s", len(again), is.position.Epoch, diff)
				}
			})
		}
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

// wantAlike checks that checkpoints of an earlier version and of the newest have the same tensors
// at the same step.
func wantAlike(t *testing.T, version int, one, two *checkpoint) {
	t.Helper()
	if one.position.Format != version || two.position.Format != checkpointFormat {
		t.Errorf("checkpoints of the formats %d and %d", one.position.Format, two.position.Format)
	}
	if diff := cmp.Diff(one.snapshot.Tensors, two.snapshot.Tensors); diff != "" || len(two.snapshot.Tensors) == 0 {
		t.Errorf("%d tensors (-was +is):\n%s", len(two.snapshot.Tensors), diff)
	}
	// Version 1 writes sums over no rows as 0; later versions omit them.
	alike := []cmp.Option{cmpopts.IgnoreFields(position{}, "Format")}
	if one.position.Rows == 0 {
		alike = append(alike, cmpopts.IgnoreFields(position{}, "Sums"))
	}
	if diff := cmp.Diff(one.position, two.position, alike...); diff != "" {
		t.Errorf("place in training (-was +is):\n%s", diff)
	}
}

// Only version 1 lacks checksums.
func TestOnlyVersion1LacksChecksums(t *testing.T) {
	for version, has := range map[int]bool{1: false, 2: true, 3: true} {
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

// A missing checksum or binding of an earlier version's files is reported once.
func TestMissingChecksumsAreSaidOnce(t *testing.T) {
	for version, want := range map[int]struct {
		*note
		text string
	}{1: {unsealed, " has no checksum"}, 2: {unbound, " is from an earlier version, whose metrics are not bound to their run"}} {
		var said strings.Builder
		before := want.to
		want.to, want.Once = &said, sync.Once{}
		for _, dir := range runsOf(t, version) {
			load(t, version, dir, checkpointFile)
		}
		want.to = before
		first := in(version, runsOf(t, version)[0], checkpointFile)
		if text := said.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, first+want.text) {
			t.Errorf("of runs of version %d is said %q", version, text)
		}
	}
}
