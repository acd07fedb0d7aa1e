// Package lists makes lists from other lists and from numbers.
package lists

import "slices"

// Map returns the values of f at the elements of a list, or nil if it has none.
func Map[A, B any](list []A, f func(A) B) []B {
	return N(len(list), func(i int) B { return f(list[i]) })
}

// N returns f(0) … f(n−1), or nil if n is not positive.
func N[T any](n int, f func(i int) T) (all []T) {
	all = slices.Grow(all, max(n, 0))
	for i := range n {
		all = append(all, f(i))
	}
	return all
}
