package runs_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// The shards of a count together have each part once, whatever their notation.
func TestShards(t *testing.T) {
	environments := map[string]func(shard int) map[string]string{
		"slurm": func(i int) map[string]string { // --array=10-22:4
			return map[string]string{
				"SLURM_ARRAY_TASK_ID": []string{"10", "14", "18", "22"}[i], "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "22",
				"SLURM_ARRAY_TASK_STEP": "4", "SLURM_ARRAY_TASK_COUNT": "4",
			}
		},
		"slurm, submitted again one by one": func(i int) map[string]string {
			n := strconv.Itoa(i)
			return map[string]string{
				"SLURM_ARRAY_TASK_ID": n, "SLURM_ARRAY_TASK_MIN": n, "SLURM_ARRAY_TASK_MAX": n,
				"SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_COUNT": "1", "HELMHOLTZ_SHARDS": "4",
			}
		},
		"kubernetes": func(i int) map[string]string {
			return map[string]string{"JOB_COMPLETION_INDEX": []string{"0", "1", "2", "3"}[i], "HELMHOLTZ_SHARDS": "4"}
		},
		"written": func(int) map[string]string { return nil },
	}
	for name, environment := range environments {
		had := map[int]int{}
		for i := range 4 {
			variables, text := environment(i), "auto"
			if variables == nil {
				text = []string{"0/4", "1/4", "2/4", "3/4"}[i]
			}
			shard, err := runs.ParseShard(text, func(name string) string { return variables[name] })
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for part := range 11 {
				if shard.Has(part) {
					had[part]++
				}
			}
		}
		for part := range 11 {
			if had[part] != 1 {
				t.Errorf("%s: part %d is of %d shards", name, part, had[part])
			}
		}
	}
	all, err := runs.ParseShard("", nil)
	if err != nil || !all.Has(0) || !all.Has(7) {
		t.Errorf("no shard is not all of the work (%v)", err)
	}
}

func TestWrongShards(t *testing.T) {
	for text, environment := range map[string]map[string]string{
		"4/4": nil, "-1/4": nil, "1": nil, "a/b": nil, "0/0": nil,
		"auto":    nil,
		"auto ":   {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "2", "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_COUNT": "2"},
		"auto  ":  {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_COUNT": "1"},
		"auto   ": {"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "6", "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_COUNT": "3"},
		"auto\t":  {"JOB_COMPLETION_INDEX": "1"},
	} {
		_, err := runs.ParseShard(strings.TrimSpace(text), func(name string) string { return environment[name] })
		if err == nil {
			t.Errorf("shard %q with %v is accepted", text, environment)
		}
	}
}

// A shard whose index is outside its count returns an error and does no work.
func TestShardsThatCannotBe(t *testing.T) {
	for _, shard := range []runs.Shard{{}, {Index: 0, Count: 1}, {Index: 2, Count: 3}} {
		if err := shard.Check(); err != nil {
			t.Errorf("shard %v: %v", shard, err)
		}
	}
	s, dir := mustReadSweep(t, sweepText), t.TempDir()
	if err := s.Claim(dir); err != nil {
		t.Fatal(err)
	}
	for _, shard := range []runs.Shard{{Index: 3, Count: 3}, {Index: -1, Count: 2}, {Index: 1, Count: 0}, {Index: 0, Count: -1}} {
		_, training := s.Train(t.Context(), dir, shard, nil)
		_, parts := runs.Parts{Dir: t.TempDir(), Count: 4, Work: "{}"}.Do(t.Context(), shard, nil, nil)
		for _, err := range []error{shard.Check(), training, parts} {
			wantError(t, err, "the index runs from 0")
		}
	}
}
