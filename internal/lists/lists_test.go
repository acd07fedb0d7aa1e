package lists

import (
	"slices"
	"strconv"
	"testing"
)

func TestListsHaveAValueForEachElement(t *testing.T) {
	for n, want := range [][]string{nil, {"0"}, {"0", "1"}, {"0", "1", "2"}} {
		numbers := N(n, func(i int) int { return i })
		if got := Map(numbers, strconv.Itoa); !slices.Equal(got, want) || (got == nil) != (n == 0) || (numbers == nil) != (n == 0) {
			t.Errorf("of %d elements: %q, want %q", n, got, want)
		}
	}
	if got := N(-1, strconv.Itoa); got != nil {
		t.Errorf("of −1 elements: %q, want none", got)
	}
}
