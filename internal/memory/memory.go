// Package memory says how much memory there is, and adds up how much is needed.
package memory

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"
)

// Available is the memory that Linux says there is in all, or what a container is
// allowed of it, in bytes, and whose it is; 0 bytes where the system does not say.
func Available() (bytes int64, of string) {
	total, _ := os.ReadFile("/proc/meminfo")
	limit, _ := os.ReadFile("/sys/fs/cgroup/memory.max")
	return available(string(total), string(limit))
}

// Limit is Available, or 16 GiB where the system does not say.
func Limit() (bytes int64, of string) {
	bytes, of = Available()
	if bytes == 0 {
		bytes = 16 << 30
	}
	return bytes, of
}

// available reads the files of Available, which are empty where there are none.
func available(total, limit string) (int64, string) {
	const machine = "this machine"
	var kilobytes int64
	if _, err := fmt.Sscanf(total, "MemTotal: %d kB", &kilobytes); err != nil {
		return 0, machine
	}
	// The limit is "max" where there is none.
	if bytes, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64); err == nil && bytes < kilobytes<<10 {
		return bytes, "this container"
	}
	return kilobytes << 10, machine
}

// Bytes is a number of bytes that was computed without regard to overflow: the next
// int64, or the largest where there is none.
func Bytes(n float64) int64 {
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Ceil(n))
}

// Sum adds numbers that are not negative. Where the sum has no int64 it is the
// largest that there is.
func Sum(numbers ...int64) int64 {
	sum := int64(0)
	for _, n := range numbers {
		if n > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += n
	}
	return sum
}

// Product multiplies numbers that are not negative. Where the product has no int64
// it is the largest that there is.
func Product(numbers ...int64) int64 {
	product, overflow := int64(1), false
	for _, n := range numbers {
		if n == 0 {
			return 0
		}
		high, low := bits.Mul64(uint64(product), uint64(n))
		if overflow = overflow || high != 0 || low > math.MaxInt64; !overflow {
			product = int64(low)
		}
	}
	if overflow {
		return math.MaxInt64
	}
	return product
}
