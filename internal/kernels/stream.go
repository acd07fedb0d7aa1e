package kernels

import "github.com/helmholtz-go/helmholtz/internal/philox"

// Stream returns the draws of a philox.Stream, and computes many at a time. It implements math/rand/v2.Source.
type Stream struct {
	key     philox.Key
	counter philox.Counter
	first   [4]uint32 // the words of the counter
	words   [64]uint32
	next    int
}

// NewStream returns the stream that begins at c.
func NewStream(key philox.Key, c philox.Counter) *Stream {
	s := &Stream{key: key, counter: c}
	s.next = len(s.words)
	return s
}

// Uint64 returns the next two words, the first in the high half.
func (s *Stream) Uint64() uint64 {
	if s.next == len(s.words) {
		s.fill()
	}
	high, low := s.words[s.next], s.words[s.next+1]
	s.next += 2
	return uint64(high)<<32 | uint64(low)
}

// fill computes the next words: all of them by vectors, and otherwise one block at the end.
func (s *Stream) fill() {
	if current.samples == nil {
		s.next = len(s.words) - 4
		*(*[4]uint32)(s.words[s.next:]) = s.key.Block(s.counter)
		s.counter.Sample++
		return
	}
	s.next = 0
	s.first = counterWords(s.counter)
	s.first[0] |= uint32(s.counter.Unit)
	current.samples(&s.words[0], len(s.words)/current.lanes, uint64(s.key), &s.first)
	s.counter.Sample += uint32(len(s.words) / 4)
}
