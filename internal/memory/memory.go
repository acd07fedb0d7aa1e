// Package memory reports how much memory there is, and adds up how much is needed.
package memory

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"
)

// Available returns the total memory in bytes that Linux reports, or a container's limit if that is
// lower. of names what the number applies to, such as "this machine". Available returns 0 bytes if
// the system does not report its memory.
func Available() (bytes int64, of string) {
	total, _ := os.ReadFile("/proc/meminfo")
	limit, _ := os.ReadFile("/sys/fs/cgroup/memory.max")
	return available(string(total), string(limit))
}

// Limit is like Available, but returns 16 GiB if the system reports nothing.
func Limit() (bytes int64, of string) {
	bytes, of = Available()
	if bytes == 0 {
		bytes = 16 << 30
	}
	return bytes, of
}

// Check returns an error if bytes exceed Limit. The error calls what takes the memory by the name things, such as
// "100 chains", and ends with the remedy, such as "use fewer".
func Check(things string, bytes float64, remedy string) error {
	if limit, whose := Limit(); bytes > float64(limit) {
		return fmt.Errorf("%s take %.3g GB of memory, where %s has %.3g: %s", things, bytes/1e9, whose, float64(limit)/1e9, remedy)
	}
	return nil
}

// available parses the contents of the two files that Available reads. A missing file is empty.
func available(total, limit string) (int64, string) {
	const machine = "this machine"
	var kilobytes int64
	if _, err := fmt.Sscanf(total, "MemTotal: %d kB", &kilobytes); err != nil {
		return 0, machine
	}
	// The limit is "max" if there is none.
	if bytes, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64); err == nil && bytes < kilobytes<<10 {
		return bytes, "this container"
	}
	return kilobytes << 10, machine
}

// Bytes rounds a number of bytes up to an int64. If the number is too large, it returns the largest
// int64.
func Bytes(n float64) int64 {
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Ceil(n))
}

// Sum adds numbers that are not negative. It returns the largest int64 if the sum overflows.
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

// Product multiplies numbers that are not negative. It returns the largest int64 if the product
// overflows.
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
