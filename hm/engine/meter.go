package engine

import "sync"

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
