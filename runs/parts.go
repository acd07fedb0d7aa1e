package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// Parts is work in numbered parts, such as the rows of a long evaluation. Programs that
// share a directory, on one machine or on several, do each part once.
type Parts struct {
	Dir   string
	Count int
	// Work says what is done: parts of other work are refused.
	Work string
}

// In the folder of a part are its tensors, with the work among their texts.
const (
	partFile = "part.safetensors"
	workKey  = "work"
)

func (p Parts) dir(i int) string { return filepath.Join(p.Dir, fmt.Sprintf("part-%d", i)) }

// Part reads the tensors of a part. Of one that is not done the error is os.ErrNotExist.
func (p Parts) Part(i int) ([]Tensor, error) {
	path := filepath.Join(p.dir(i), partFile)
	r, size, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := safetensors.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove the file, and the same command makes it anew", path, err)
	}
	if work := f.Metadata[workKey]; work != p.Work {
		return nil, fmt.Errorf("%s is of other work (%s), not of this one (%s): choose another directory", path, work, p.Work)
	}
	return f.Tensors, nil
}

// Do does the parts of a share that are neither done nor done by another program just
// now. It waits for parts that programs on other machines may have left without ending
// them. It returns how many of all parts, of any share, are not done yet.
func (p Parts) Do(ctx context.Context, share Shard, do func(part int) ([]Tensor, error)) (left int, err error) {
	_, err = takeTurns(ctx, p.Count, func(i int) (bool, error) {
		if !share.Has(i) {
			return false, nil
		}
		return p.attempt(ctx, i, do)
	})
	if err != nil {
		return 0, err
	}
	for i := range p.Count {
		if _, err := p.Part(i); errors.Is(err, os.ErrNotExist) {
			left++
		} else if err != nil {
			return 0, err
		}
	}
	return left, nil
}

// attempt does a part, and says whether it has: it may be done already.
func (p Parts) attempt(ctx context.Context, i int, do func(part int) ([]Tensor, error)) (bool, error) {
	if _, err := p.Part(i); !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	held, err := file.HoldShared(p.dir(i), lockFile)
	if errors.Is(err, file.ErrLocked) {
		return false, takenBy(p.dir(i), err)
	}
	if err != nil {
		return false, err
	}
	defer held.Release()
	if _, err := p.Part(i); !errors.Is(err, os.ErrNotExist) {
		return false, err // another program has done it meanwhile
	}
	tensors, err := do(i)
	if err != nil {
		return false, err
	}
	f := &safetensors.File{Metadata: map[string]string{workKey: p.Work}, Tensors: tensors}
	f.Seal()
	b, err := safetensors.Marshal(f)
	if err != nil {
		return false, err
	}
	if err := held.WriteAside(partFile, b); err != nil {
		return false, err
	}
	return true, held.RemoveLeftovers(func(name string) bool { return name == partFile })
}

// takeTurns attempts jobs that programs share, one after the other and again until
// there is none that an attempt has done. One that another program is at, by a
// TakenError or file.ErrLost, is passed over; those that a program on another machine
// may have left without ending them are waited for. It returns how many others are at.
func takeTurns(ctx context.Context, jobs int, attempt func(i int) (done bool, err error)) (elsewhere int, err error) {
	for {
		some, unsure := false, false
		elsewhere = 0
		for i := range jobs {
			done, err := attempt(i)
			var taken *TakenError
			switch {
			case errors.As(err, &taken):
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
		case !unsure:
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
