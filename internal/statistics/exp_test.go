package statistics

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// The portable functions give the bits of amd64's. On other processors the table holds amd64's bits.
func TestExpAndLogHaveTheBitsOfAMD64(t *testing.T) {
	for _, c := range []struct {
		x        float64
		exp, log uint64
	}{
		{0.1, 0x3ff1aec7b35a00d4, 0xc0026bb1bbb55515},
		{0.7, 0x40001c2a61268987, 0xbfd6d3c324e13f50},
		{3, 0x403415e5bf6fb106, 0x3ff193ea7aad030a},
		{23.75, 0x42133683f506627c, 0x40095735827e5cce},
		{700.5, 0x7f18625c7d4f56c3, 0x401a3509950c84a7},
	} {
		if e, l := math.Float64bits(Exp(c.x)), math.Float64bits(Log(c.x)); e != c.exp || l != c.log {
			t.Errorf("at %v the bits are %#x and %#x", c.x, e, l)
		}
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := math.Float64frombits(random.Uint64())
		if random.IntN(2) == 0 {
			x = 1500*random.Float64() - 760
		}
		for name, pair := range map[string][2]float64{"exp": {exp(x), math.Exp(x)}, "log": {log(math.Abs(x)), math.Log(math.Abs(x))}} {
			if math.Float64bits(pair[0]) != math.Float64bits(pair[1]) && pair[0] == pair[0] {
				t.Fatalf("%s(%v) is %v, not %v", name, x, pair[0], pair[1])
			}
		}
	}
}
