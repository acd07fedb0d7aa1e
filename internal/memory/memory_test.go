package memory

import (
	"math"
	"math/big"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

// The smallest limit of the control group of the process and of those above it counts if it is less than the
// machine has.
func TestAvailable(t *testing.T) {
	const total = "MemTotal:       2048 kB\nMemFree:  1 kB\n"
	const mebibyte, machine, container = "1048576\n", "this machine", "this container"
	for _, c := range []struct {
		total, groups string
		limits        map[string]string
		bytes         int64
		of            string
	}{
		{total, "", nil, 2 << 20, machine},
		{total, "0::/\n", map[string]string{"memory.max": "max\n"}, 2 << 20, machine},
		{total, "0::/\n", map[string]string{"memory.max": mebibyte}, 1 << 20, container},
		{total, "0::/\n", map[string]string{"memory.max": "9223372036854771712\n"}, 2 << 20, machine},
		{total, "0::/a/b\n", map[string]string{"a/b/memory.max": mebibyte}, 1 << 20, container},
		{total, "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": mebibyte}, 1 << 20, container},
		{total, "0::/a/b\n", map[string]string{"a/b/memory.max": mebibyte, "a/memory.max": "2000000\n"}, 1 << 20, container},
		{total, "0::/a\n", map[string]string{"b/memory.max": mebibyte}, 2 << 20, machine},
		{total, "0::/../a\n", map[string]string{"a/memory.max": mebibyte}, 1 << 20, container},
		// Version 1, whose paths may not exist in a container.
		{total, "5:cpu:/b\n4:memory:/a\n0::/\n", map[string]string{"memory/a/memory.limit_in_bytes": mebibyte}, 1 << 20, container},
		{total, "4:memory:/a\n", map[string]string{"memory/memory.limit_in_bytes": mebibyte}, 1 << 20, container},
		{total, "4:cpu:/a\n", map[string]string{"memory/a/memory.limit_in_bytes": mebibyte}, 2 << 20, machine},
		{total, "4\n", map[string]string{"memory.max": "max\n"}, 2 << 20, machine},
		{"", "0::/\n", map[string]string{"memory.max": mebibyte}, 0, machine},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte(c.total)}, "proc/self/cgroup": {Data: []byte(c.groups)}}
		for name, text := range c.limits {
			root["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		if bytes, of := available(root); bytes != c.bytes || of != c.of {
			t.Errorf("of %q with the groups %q and limits %q, %s has %d bytes, want %s with %d", c.total, c.groups, c.limits, of, bytes, c.of, c.bytes)
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
