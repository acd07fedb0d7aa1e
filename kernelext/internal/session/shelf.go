package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// shelf keeps values of one kind under names. Its methods may be called from
// several goroutines.
type shelf[T any] struct {
	kind   string // what the values are
	method string // that puts one here

	mu     sync.Mutex
	values map[string]T
}

func newShelf[T any](kind, method string) *shelf[T] {
	return &shelf[T]{kind: kind, method: method, values: map[string]T{}}
}

// keep puts a value under a name, and forgets the one that was there.
func (s *shelf[T]) keep(name string, value T) error {
	if err := checkName(s.kind, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name] = value
	return nil
}

// get returns the value of a name.
func (s *shelf[T]) get(name string) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[name]
	if ok {
		return value, nil
	}
	if len(s.values) == 0 {
		return value, fmt.Errorf("no %s %q is kept, nor any other: %s keeps one until the kernel is restarted", s.kind, name, s.method)
	}
	return value, fmt.Errorf("no %s %q is kept: those that are have the names %s", s.kind, name, strings.Join(slices.Sorted(maps.Keys(s.values)), ", "))
}

// drop forgets the value of a name, and says whether there was one.
func (s *shelf[T]) drop(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.values[name]
	delete(s.values, name)
	return ok
}

// find returns a value of which is holds.
func (s *shelf[T]) find(is func(T) bool) (found T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range s.values {
		if is(value) {
			return value, true
		}
	}
	return found, false
}

// names are those of all values.
func (s *shelf[T]) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(s.values))...) // which JSON writes as a list, too, if it is empty
}
