package philox

// Stream returns the draws of one purpose as a sequence, for work that is done once and in order:
// initial weights, shuffles, synthetic data. It implements math/rand/v2.Source.
type Stream struct {
	key     Key
	counter Counter
	block   [4]uint32
	next    int
}

// NewStream returns the stream of a purpose. Streams with different indices (an epoch, a row, a
// layer) are independent.
func NewStream(seed uint64, purpose Purpose, index uint32) *Stream {
	return Key(seed).Stream(Counter{Word: Word{Purpose: purpose}, Step: index})
}

// Stream returns the draws from counter c on as a sequence that advances the counter's sample. Streams of
// counters that differ in another field are independent.
func (k Key) Stream(c Counter) *Stream { return &Stream{key: k, counter: c, next: 4} }

// Uint32 returns the next word.
func (s *Stream) Uint32() uint32 {
	if s.next == 4 {
		s.block = s.key.Block(s.counter)
		s.counter.Sample++
		s.next = 0
	}
	w := s.block[s.next]
	s.next++
	return w
}

// Uint64 returns the next two words, the first in the high half.
func (s *Stream) Uint64() uint64 {
	high := uint64(s.Uint32())
	return high<<32 | uint64(s.Uint32())
}

// Perm returns a uniformly distributed permutation of 0 … n−1 (Fisher and Yates). It does not use
// math/rand/v2, because the permutation must never change: run directories depend on it.
func (s *Stream) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := s.below(uint32(i + 1))
		p[i] = p[j]
		p[j] = i
	}
	return p
}

// below returns a uniform integer in [0, n) by rejection.
func (s *Stream) below(n uint32) uint32 {
	limit := -n % n // 2³² mod n
	for {
		if w := s.Uint32(); w >= limit {
			return w % n
		}
	}
}
