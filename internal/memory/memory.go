// Package memory reports how much memory there is, and adds up how much is needed.
package memory

import (
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available returns the total memory in bytes that Linux reports, or the limit of a container (a
// control group) if that is lower. of names what the number applies to, such as "this machine".
// Available returns 0 bytes if the system does not report its memory.
func Available() (bytes int64, of string) { return available(os.DirFS("/")) }

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

// available returns what Available returns, but reads the files below root. It treats missing files as empty.
func available(root fs.FS) (bytes int64, of string) {
	of = "this machine"
	read := func(name string) string {
		text, _ := fs.ReadFile(root, name)
		return string(text)
	}
	if _, err := fmt.Sscanf(read("proc/meminfo"), "MemTotal: %d kB", &bytes); err != nil {
		return 0, of
	}
	bytes <<= 10
	// A line is hierarchy:controllers:path. Version 2 of control groups names no controllers.
	for line := range strings.Lines(read("proc/self/cgroup")) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(line, ":")
		folder, file := "sys/fs/cgroup", "memory.max"
		switch controllers {
		case "":
		case "memory":
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for up := path.Clean("/" + group); ; up = path.Dir(up) {
			// The limit is "max" if there is none.
			if limit, err := strconv.ParseInt(strings.TrimSpace(read(path.Join(folder, up, file))), 10, 64); err == nil && limit < bytes {
				bytes, of = limit, "this container"
			}
			if up == "/" {
				break
			}
		}
	}
	return bytes, of
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
