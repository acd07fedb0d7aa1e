package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// Parts is work that is divided into numbered parts, such as a long evaluation of many rows. Programs
// that share a directory, on one machine or several, do each part once.
type Parts struct {
	Dir   string
	Count int
	// Work describes the work as a JSON object. Stored parts with a different description are refused.
	Work string
}

// An UnfinishedError is the error for work with parts that other programs still have to do.
type UnfinishedError struct {
	Left, Of int  // number of missing parts, and of all parts
	whole    bool // whether the work was not divided into shares
}

func (e *UnfinishedError) Error() string {
	if e.whole {
		return fmt.Sprintf("another program computes %d of %d parts: repeat this command when it has ended", e.Left, e.Of)
	}
	return fmt.Sprintf("%d of %d parts are missing: they belong to other programs or their shares; once those have finished, repeat the command without a share to merge the parts", e.Left, e.Of)
}

// The folder of a part contains its tensors, with the description of the work in their metadata.
const (
	partFile = "part.safetensors"
	workKey  = "work"
)

func (p Parts) dir(i int) string { return filepath.Join(p.Dir, fmt.Sprintf("part-%d", i)) }

// read returns a part's tensors, or nil if the part is unfinished.
func (p Parts) read(i int) ([]Tensor, error) {
	path := filepath.Join(p.dir(i), partFile)
	r, size, err := file.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := safetensors.Read(r, size)
	if err == nil && !f.Sealed() {
		err = errNoSeal
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove the file and repeat the command to make it again", path, err)
	}
	if work := f.Metadata[workKey]; work != p.Work {
		return nil, fmt.Errorf("%s belongs to other work, %s: choose another directory", path, p.otherThan(work))
	}
	return f.Tensors, nil
}

// capitals matches the first letters of the words in the name of a field.
var capitals = regexp.MustCompile("[A-Z]")

// otherThan describes the differences between work, the description in a stored part, and p.Work. It
// omits the values of checksums.
func (p Parts) otherThan(work string) string {
	var there, here map[string]json.RawMessage
	if json.Unmarshal([]byte(work), &there) != nil || json.Unmarshal([]byte(p.Work), &here) != nil {
		return work
	}
	const checksum = 66 // length with quotes
	var differences []string
	for _, key := range slices.Sorted(maps.Keys(here)) {
		was, is, key := string(there[key]), string(here[key]), strings.ToLower(strings.TrimSpace(capitals.ReplaceAllString(key, " $0")))
		switch {
		case was == is:
		case len(is) == checksum:
			differences = append(differences, "with different "+key)
		default:
			differences = append(differences, fmt.Sprintf("where %s is %s there, %s here", key, was, is))
		}
	}
	if len(differences) == 0 {
		return work
	}
	return strings.Join(differences, ", ")
}

// Do calls do for each part of a share that is neither done nor in progress elsewhere. do must return at
// least one tensor. Do waits for parts that programs on other machines may have abandoned. It returns
// the tensors of all parts, or an UnfinishedError if some parts are still missing. progress, which may
// be nil, is called with the completed fraction of the share's parts that were missing at the start.
func (p Parts) Do(ctx context.Context, share Shard, do func(part int) ([]Tensor, error), progress func(float64)) (parts [][]Tensor, err error) {
	if err := share.Check(); err != nil {
		return nil, err
	}
	switch {
	case p.Dir == "":
		return nil, errNoDirectory
	case p.Count < 1:
		return nil, fmt.Errorf("the number of parts is %d: give at least 1", p.Count)
	}
	parts = make([][]Tensor, p.Count)
	own, done := 0, 0
	for i := range parts {
		if parts[i], err = p.read(i); err != nil {
			return nil, err
		}
		if parts[i] == nil && share.Has(i) {
			own++
		}
	}
	_, err = takeTurns(ctx, p.Count, false, func(i int) (is bool, err error) {
		if parts[i] != nil || !share.Has(i) {
			return false, nil
		}
		parts[i], is, err = p.attempt(ctx, i, do)
		if is {
			done++
			if progress != nil {
				progress(float64(done) / float64(own))
			}
		}
		return is, err
	})
	if err != nil {
		return nil, err
	}
	left := 0
	for i := range parts {
		if parts[i] == nil { // another program may have done it meanwhile
			if parts[i], err = p.read(i); err != nil {
				return nil, err
			}
		}
		if parts[i] == nil {
			left++
		}
	}
	if left > 0 {
		return nil, &UnfinishedError{left, p.Count, share.Count == 0}
	}
	return parts, nil
}

// attempt does a part, and reports whether it did. If another program has done the part meanwhile,
// attempt reads that program's tensors.
func (p Parts) attempt(ctx context.Context, i int, do func(part int) ([]Tensor, error)) (tensors []Tensor, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	held, err := hold(p.dir(i))
	if err != nil {
		return nil, false, err
	}
	defer held.Release()
	if tensors, err = p.read(i); tensors != nil || err != nil {
		return tensors, false, err
	}
	if tensors, err = do(i); err != nil {
		return nil, false, err
	}
	if len(tensors) == 0 {
		return nil, false, fmt.Errorf("part %d has no tensors", i)
	}
	f := &safetensors.File{Metadata: map[string]string{workKey: p.Work}, Tensors: tensors}
	f.Seal()
	b, err := safetensors.Marshal(f)
	if err != nil {
		return nil, false, err
	}
	if err := held.WriteAside(partFile, b); err != nil {
		return nil, false, notWritten(p.dir(i), err)
	}
	return tensors, true, held.RemoveLeftovers(func(name string) bool { return name == partFile })
}

// takeTurns attempts shared jobs one after the other, in repeated passes, until a pass completes none. It
// skips a job in progress elsewhere, for which attempt returns a TakenError or file.ErrLost. It waits for
// all these jobs if await is true, and otherwise for jobs that a program on another machine may have
// abandoned. It returns the number of jobs that are in progress elsewhere.
func takeTurns(ctx context.Context, jobs int, await bool, attempt func(i int) (done bool, err error)) (elsewhere int, err error) {
	for {
		some, unsure := false, false
		elsewhere = 0
		for i := range jobs {
			done, err := attempt(i)
			taken, is := errors.AsType[*TakenError](err)
			switch {
			case is:
				elsewhere++
				unsure = unsure || taken.Left > 0
			case errors.Is(err, file.ErrLost): // another program took it over
				elsewhere++
			case err != nil:
				return 0, err
			}
			some = some || done
		}
		switch {
		case some:
		case !unsure && !(await && elsewhere > 0):
			return elsewhere, nil
		default:
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(time.Second):
			}
		}
	}
}

// Shard is one program's share of work that is divided into parts numbered from 0: part Index and every
// Count-th part after it. The zero value means all parts.
type Shard struct{ Index, Count int }

// shardsVariable is the environment variable that holds the number of shards in the tasks of a cluster.
// The manifest of a Kubernetes Indexed Job must set it; a script for a Slurm array may set it.
const shardsVariable = "HELMHOLTZ_SHARDS"

// Environment variables that describe a task of a Slurm array or of a Kubernetes Indexed Job.
const (
	slurmID         = "SLURM_ARRAY_TASK_ID"
	slurmMin        = "SLURM_ARRAY_TASK_MIN"
	slurmMax        = "SLURM_ARRAY_TASK_MAX"
	slurmStep       = "SLURM_ARRAY_TASK_STEP"
	slurmCount      = "SLURM_ARRAY_TASK_COUNT"
	kubernetesIndex = "JOB_COMPLETION_INDEX"
)

// shardAuto asks for the shard in the environment.
const shardAuto = "auto"

const shardRemedy = "write INDEX/COUNT, such as 0/4 to 3/4, or auto in a task of an array"

// ParseShard reads INDEX/COUNT. For the word auto it reads, through getenv, which must not be nil, the
// environment of a Slurm array or a Kubernetes Indexed Job. An empty text means all parts.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	switch {
	case text == "":
		return Shard{}, nil
	case text == shardAuto && getenv(slurmID) != "":
		return slurmShard(getenv)
	case text == shardAuto && getenv(kubernetesIndex) != "":
		index, err := numbers(getenv, kubernetesIndex)
		if err != nil {
			return Shard{}, err
		}
		count, err := numbers(getenv, shardsVariable)
		if err != nil {
			return Shard{}, fmt.Errorf("%w: set it to the number of completions in the manifest", err)
		}
		return newShard(index[0], count[0])
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

// slurmShard returns the shard of a task in a Slurm array with any numbering. If shardsVariable is set,
// the task's number is the index, so that a task that is submitted again alone keeps its share.
func slurmShard(getenv func(string) string) (Shard, error) {
	values, err := numbers(getenv, slurmID, slurmMin, slurmMax, slurmStep, slurmCount)
	if err != nil {
		return Shard{}, err
	}
	id, first, last, step, count := values[0], values[1], values[2], values[3], values[4]
	if getenv(shardsVariable) != "" {
		shards, err := numbers(getenv, shardsVariable)
		if err != nil {
			return Shard{}, err
		}
		return newShard(id, shards[0])
	}
	if step < 1 || (id-first)%step != 0 || (last-first)/step+1 != count || count == 1 && id > 0 {
		return Shard{}, fmt.Errorf("cannot tell the share of task %d in an array of %d tasks from %d to %d with step %d: number the tasks from 0, and set %s to their number",
			id, count, first, last, step, shardsVariable)
	}
	return newShard((id-first)/step, count)
}

func numbers(getenv func(string) string, names ...string) (all []int, err error) {
	for _, name := range names {
		n, err := strconv.Atoi(getenv(name))
		if err != nil {
			return nil, fmt.Errorf("%s=%q is not a number", name, getenv(name))
		}
		all = append(all, n)
	}
	return all, nil
}

func newShard(index, count int) (Shard, error) {
	if count < 1 || index < 0 || index >= count {
		return Shard{}, fmt.Errorf("shard %d of %d: the index runs from 0 to COUNT − 1; %s", index, count, shardRemedy)
	}
	return Shard{index, count}, nil
}

// Check refuses a shard whose index is not between 0 and Count − 1. The zero value passes.
func (s Shard) Check() error {
	if s == (Shard{}) {
		return nil
	}
	_, err := newShard(s.Index, s.Count)
	return err
}

// Has reports whether a part, counted from 0, belongs to the share.
func (s Shard) Has(part int) bool { return s.Count == 0 || part%s.Count == s.Index }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }
