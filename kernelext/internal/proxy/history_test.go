//go:build unix

package proxy

import (
	"encoding/binary"
	"testing"
)

func TestHistoryForgetsTheEldestAlone(t *testing.T) {
	var h history
	number := func(i int) (s signature) {
		binary.LittleEndian.PutUint64(s[:], uint64(i))
		return s
	}
	const all = 5*mostSeen + 7
	for i := range all {
		if err := h.add(number(i)); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if kept := len(h.older) + len(h.newer); kept > 2*mostSeen {
			t.Fatalf("%d are kept", kept)
		}
	}
	for i := all - mostSeen; i < all; i++ {
		if h.add(number(i)) == nil {
			t.Fatalf("message %d is forgotten", i)
		}
	}
}
