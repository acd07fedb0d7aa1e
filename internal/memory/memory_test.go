package memory

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// What a container is allowed counts where it is less than the machine has.
func TestAvailable(t *testing.T) {
	const total = "MemTotal:       2048 kB\nMemFree:  1 kB\n"
	for _, c := range []struct {
		total, limit string
		bytes        int64
		of           string
	}{
		{total, "", 2 << 20, "this machine"},
		{total, "max\n", 2 << 20, "this machine"},
		{total, "1048576\n", 1 << 20, "this container"},
		{total, "9223372036854771712\n", 2 << 20, "this machine"},
		{"", "1048576\n", 0, "this machine"},
	} {
		if bytes, of := available(c.total, c.limit); bytes != c.bytes || of != c.of {
			t.Errorf("of %q with the limit %q, %s has %d bytes, want %s with %d", c.total, c.limit, of, bytes, c.of, c.bytes)
		}
	}
}

// Sums and products are those of whole numbers, or the largest int64.
func TestSumsAndProductsDoNotOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, math.MaxInt64), rapid.Just(int64(math.MaxInt64)))
		numbers := rapid.SliceOfN(number, 0, 5).Draw(t, "numbers")
		sum, product := big.NewInt(0), big.NewInt(1)
		for _, n := range numbers {
			sum.Add(sum, big.NewInt(n))
			product.Mul(product, big.NewInt(n))
		}
		for _, c := range []struct {
			exact *big.Int
			got   int64
		}{{sum, Sum(numbers...)}, {product, Product(numbers...)}} {
			want := int64(math.MaxInt64)
			if c.exact.IsInt64() {
				want = c.exact.Int64()
			}
			if c.got != want {
				t.Errorf("of %v: %d, want %v or the largest", numbers, c.got, c.exact)
			}
		}
	})
}
