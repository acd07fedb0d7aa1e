// Package work divides computations among processors.
package work

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls task(0) … task(n−1) on all processors and returns when all
// are done. Tasks must not depend on each other, so that results are the same whatever
// the number of processors.
func Parallel(n int, task func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			task(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			task(i)
		}
	}
	for range workers - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
}

// Parts divides the indices 0 … n−1 into parts of at most most indices, as equal as possible, and
// calls task for each part in parallel. first is the first index of a part, and last is the index
// after its last one.
func Parts(n, most int, task func(first, last int)) {
	parts := (n + most - 1) / most
	Parallel(parts, func(i int) { task(i*n/parts, (i+1)*n/parts) })
}

// Meter returns a function to call with the size of each finished part of the work. The function
// reports the finished fraction of total to progress, which may be nil.
func Meter(progress func(float64), total int) func(part int) {
	if progress == nil {
		return func(int) {}
	}
	var reporting sync.Mutex
	done := 0
	return func(part int) {
		reporting.Lock()
		defer reporting.Unlock()
		done += part
		progress(float64(done) / float64(total))
	}
}
