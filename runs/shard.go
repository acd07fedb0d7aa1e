package runs

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is a share of work that several programs divide among themselves: of parts
// numbered from 0, those of number Index and every Count-th after it. The zero value
// is all of it.
type Shard struct{ Index, Count int }

// ShardsVariable is the environment variable with the number of all shards, where a shard
// is that of a task of a cluster: the manifest of a Kubernetes Indexed Job has to set it, and
// a script for a Slurm array may.
const ShardsVariable = "HELMHOLTZ_SHARDS"

// The variables that hold a task's number: of a Slurm array, and of an Indexed Job.
const (
	slurmID         = "SLURM_ARRAY_TASK_ID"
	slurmMin        = "SLURM_ARRAY_TASK_MIN"
	slurmMax        = "SLURM_ARRAY_TASK_MAX"
	slurmStep       = "SLURM_ARRAY_TASK_STEP"
	slurmCount      = "SLURM_ARRAY_TASK_COUNT"
	kubernetesIndex = "JOB_COMPLETION_INDEX"
)

// shardAuto is the word for what the environment says.
const shardAuto = "auto"

const shardRemedy = "write INDEX/COUNT, such as 0/4 to 3/4, or auto in a task of an array"

// ParseShard reads INDEX/COUNT, or for the word auto what a Slurm array or a
// Kubernetes Indexed Job has put into the environment, which getenv reads; all of the
// work where text is empty.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	switch {
	case text == "":
		return Shard{}, nil
	case text == shardAuto && getenv(slurmID) != "":
		return slurmShard(getenv)
	case text == shardAuto && getenv(kubernetesIndex) != "":
		index, err := number(kubernetesIndex, getenv)
		if err != nil {
			return Shard{}, err
		}
		count, err := number(ShardsVariable, getenv)
		if err != nil {
			return Shard{}, fmt.Errorf("%w: let the manifest set it to the number of completions", err)
		}
		return newShard(index, count)
	case text == shardAuto:
		return Shard{}, fmt.Errorf("shard auto: neither %s nor %s is set: start this in a Slurm array or a Kubernetes Indexed Job, or write INDEX/COUNT", slurmID, kubernetesIndex)
	}
	first, second, ok := strings.Cut(text, "/")
	index, err := strconv.Atoi(first)
	count, err2 := strconv.Atoi(second)
	if !ok || err != nil || err2 != nil {
		return Shard{}, fmt.Errorf("shard %q: %s", text, shardRemedy)
	}
	return newShard(index, count)
}

// slurmShard is that of a task of an array, whatever numbers its tasks have. Where
// ShardsVariable says how many shards there are, the tasks have their numbers, so that one
// that is submitted again alone keeps its share.
func slurmShard(getenv func(string) string) (Shard, error) {
	var values [5]int
	for i, name := range []string{slurmID, slurmMin, slurmMax, slurmStep, slurmCount} {
		var err error
		if values[i], err = number(name, getenv); err != nil {
			return Shard{}, err
		}
	}
	id, first, last, step, count := values[0], values[1], values[2], values[3], values[4]
	if getenv(ShardsVariable) != "" {
		shards, err := number(ShardsVariable, getenv)
		if err != nil {
			return Shard{}, err
		}
		return newShard(id, shards)
	}
	if step < 1 || (id-first)%step != 0 || (last-first)/step+1 != count || count == 1 && id > 0 {
		return Shard{}, fmt.Errorf("task %d of an array of %d tasks from %d to %d with step %d: which share of all it has is not known: number the tasks from 0, and set %s to their number",
			id, count, first, last, step, ShardsVariable)
	}
	return newShard((id-first)/step, count)
}

func number(name string, getenv func(string) string) (int, error) {
	n, err := strconv.Atoi(getenv(name))
	if err != nil {
		return 0, fmt.Errorf("%s=%q is not a number", name, getenv(name))
	}
	return n, nil
}

func newShard(index, count int) (Shard, error) {
	if count < 1 || index < 0 || index >= count {
		return Shard{}, fmt.Errorf("shard %d of %d: numbers go from 0 to one less than their count; %s", index, count, shardRemedy)
	}
	return Shard{index, count}, nil
}

// Check refuses a shard whose index is not from 0 to one less than its count. The zero value
// passes.
func (s Shard) Check() error {
	if s == (Shard{}) {
		return nil
	}
	_, err := newShard(s.Index, s.Count)
	return err
}

// Has says whether a part, 0 the first, is of this share.
func (s Shard) Has(part int) bool { return s.Count == 0 || part%s.Count == s.Index }

// String writes INDEX/COUNT.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }
