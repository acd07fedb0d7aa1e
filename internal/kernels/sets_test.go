package kernels

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// eachSet runs a test with every instruction set of this processor.
func eachSet(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	defer func(s *instructionSet) { current = s }(current)
	for _, name := range InstructionSets() {
		if err := SetInstructionSet(name); err != nil {
			t.Fatal(err)
		}
		t.Run(name, test)
	}
}

// with runs f with an instruction set.
func with(s *instructionSet, f func()) {
	defer func(s *instructionSet) { current = s }(current)
	current = s
	f()
}

// A field is memory in which matrices lie between bands of a certain NaN: a
// kernel that reads a band spoils its result, one that writes it is seen.
type field struct {
	random *rand.Rand
	all    [][]float32
}

const bandBits = 0x7fc0_5afe

func newField(seed uint64) *field { return &field{random: rand.New(rand.NewPCG(seed, 0))} }

// matrix returns a matrix of uniform numbers, at any alignment, between bands.
func (f *field) matrix(rows, cols int) Matrix {
	const band = 20
	stride := cols + 1 + f.random.IntN(20)
	first := band + f.random.IntN(16)
	data := make([]float32, first+rows*stride+band)
	for i := range data {
		data[i] = math.Float32frombits(bandBits)
	}
	f.all = append(f.all, data)
	m := Matrix{Rows: rows, Cols: cols, Stride: stride, Data: data[first : first+max(rows*stride-(stride-cols), 0)]}
	for i := range rows {
		for j := range cols {
			Row(m, i)[j] = 2*f.random.Float32() - 1
		}
	}
	return m
}

func (f *field) vector(n int) []float32 { return f.matrix(1, n).Data }

// check counts the numbers between the bands: holes is how many elements of
// matrices there are.
func (f *field) check(t *testing.T, elements int) {
	t.Helper()
	for _, data := range f.all {
		for _, x := range data {
			if math.Float32bits(x) != bandBits {
				elements--
			}
		}
	}
	if elements != 0 {
		t.Errorf("%d elements outside the matrices were written", -elements)
	}
}

func sameBits(a, b []float32) bool {
	for i, x := range a {
		y := b[i]
		if math.Float32bits(x) != math.Float32bits(y) && !(x != x && y != y) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestInstructionSets(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		if !strings.HasSuffix(t.Name(), "/"+InstructionSet()) {
			t.Errorf("the instruction set is %s", InstructionSet())
		}
	})
	err := SetInstructionSet("mmx")
	if err == nil || !strings.Contains(err.Error(), `"mmx"`) || !strings.Contains(err.Error(), "portable") {
		t.Errorf("an unknown set gives the error %v", err)
	}
}

// The environment variable is read once, when the program starts.
func TestEnvironmentVariable(t *testing.T) {
	const asked = "HELMHOLTZ_TEST_PRINT"
	if os.Getenv(asked) != "" {
		t.Log("uses "+InstructionSet(), EnvironmentError())
		return
	}
	run := func(set string) string {
		c := exec.Command(os.Args[0], "-test.run=^TestEnvironmentVariable$", "-test.v")
		c.Env = append(os.Environ(), asked+"=1", variable+"="+set)
		out, _ := c.CombinedOutput()
		return string(out)
	}
	for _, set := range InstructionSets() {
		if out := run(set); !strings.Contains(out, "uses "+set+" <nil>\n") {
			t.Errorf("%s=%s: %s", variable, set, out)
		}
	}
	fastest := InstructionSets()[len(InstructionSets())-1]
	if out := run("mmx"); !strings.Contains(out, "uses "+fastest+" "+variable+": ") || !strings.Contains(out, `"mmx"`) {
		t.Errorf("an unknown set: %s", out)
	}
}

// A processor without AVX-512 has 16 vector registers and no mask registers;
// one with AVX-512 would not notice that a kernel for it uses more.
func TestAVX2KernelsUseAVX2Registers(t *testing.T) {
	more := regexp.MustCompile(`\b([XYZ](1[6-9]|[23][0-9])|Z[0-9]+|K[0-7])\b`)
	for _, file := range []string{"bernoulli_amd64.s", "bits_amd64.s", "exponentials_amd64.s", "gather_amd64.s", "product_amd64.s", "symmetric_amd64.s", "transpose_amd64.s"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
			name, body, _ := strings.Cut(function, "\n")
			if strings.Contains(name, "AVX2(SB)") {
				if found := more.FindString(body); found != "" {
					t.Errorf("%s: %s uses %s", file, name, found)
				}
			}
		}
	}
}
