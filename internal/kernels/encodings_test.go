package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Go's assembler lacks some of NEON's instructions. The generator writes them as numbers, each with
// the instruction in a comment. A disassembler must find that instruction.
func TestEncodingsForARM(t *testing.T) {
	const file = "neon_arm64.s"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	goTool := func(arguments ...string) string {
		c := exec.Command("go", append([]string{"tool"}, arguments...)...)
		c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
		return string(out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(t.TempDir(), "neon.o")
	goTool("asm", "-p", "kernels", "-I", filepath.Join(strings.TrimSpace(string(root)), "pkg", "include"), "-o", object, file)
	disassembled := map[string]string{}
	for _, line := range strings.Split(goTool("objdump", "-gnu", object), "\n") {
		if fields := strings.Fields(line); len(fields) > 3 {
			_, instruction, _ := strings.Cut(line, "// ")
			disassembled[fields[2]] = strings.TrimSpace(instruction)
		}
	}
	words := regexp.MustCompile(`WORD \$0x([0-9a-f]{8}) // (.*)`).FindAllStringSubmatch(string(source), -1)
	if len(words) < 100 {
		t.Errorf("there are only %d encodings", len(words))
	}
	for _, w := range words {
		if got := disassembled[w[1]]; got != w[2] {
			t.Fatalf("%s is %q, not %q", w[1], got, w[2])
		}
	}
}
