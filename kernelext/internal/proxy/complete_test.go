//go:build unix

package proxy

import "testing"

// TestCompleteness lists what a console does when Enter is pressed behind each text.
func TestCompleteness(t *testing.T) {
	for status, cells := range map[string]map[string]string{
		"complete": {
			"": "", "// a comment": "", "%hm runs": "", "//gonb:%hm runs": "", "!ls": "", "!echo a \\\nb": "", "%env A b": "",
			"func twice(x int) int {\n    return 2 * x\n}": "", "type T struct{}": "", "func (t T) M() {}": "", "var x = 1": "", `import "fmt"`: "",
			"import (\n\"fmt\"\n)": "", "%%\nfmt.Println(1)": "", "%%\nfmt.Println(1)\n": "", "%main\nx()": "", "func f() {}\n%%\nf()": "",
			"%%\nfor i := range 3 {\n    fmt.Println(i)\n}": "", "%%\nx := `a\n{`": "", "%%bash\nls\n": "", "%%writefile a.txt\n{\n": "",
			"func F[T any](x T) T { return x }": "", "type T struct{ X int `a:\"{\"` }": "", "%%\nif x {\n} else {\n}": "", "// a \\": "", "%exec f": "",
			"%test\nfunc TestX(t *testing.T) {}": "", "package main\nfunc f() {}": "",
		},
		"incomplete": {
			"func twice(x int) int {": "    ", "func twice(x int) int {\n    if x > 0 {": "        ", "func f() {\n    g(func() {": "        ",
			"type T struct {": "    ", "import (": "    ", "var x = []int{1,": "    ", "%%\nfmt.Println(": "    ", "%%\nfmt.Println(1,\n": "    ",
			"%%\nswitch x {\ncase 1:": "    ", "%%\nx := `a": "", "func f() {\n`a": "", "/* a": "", "%%\nx := 1 +": "", "var x =": "", "%%": "",
			"%%\npackages := []int{": "    ", "%%\nx :=": "", "%%\nif x {\n} else {": "    ", "%%\nfor i := range 3": "", "func F[T any](x T) T {\n    \n": "    ", "%main": "", "%%\nfoo(`{": "",
			"%% -n 3": "", "//gonb:%%": "", "func f() {}\n%%": "", "%%\n": "", "!echo a \\": "", "%hm save a \\": "", "!a \\\nb \\": "",
			"%%bash": "", "%%bash\nls": "", "%%writefile a.go\nfunc f() {}": "", "%hm runs\nfunc f() {": "    ", "%%\nif x {\n} else": "",
		},
		"invalid": {
			"x := 1": "", "func 1": "", "%%\n}": "", "func f() {\n)": "", "%%\nx := = 1": "", "fmt.Println(1)": "", "%%\n\"a": "", "!": "", "%": "", "x \\": "", "%%\n'a": "", "f := 3 \\": "",
			"func f() {\n    x = = 1": "",
		},
	} {
		for code, indent := range cells {
			if got := completeness(code); got["status"] != status || got["indent"] != indent {
				t.Errorf("%q is %v, want %s with the indent %q", code, got, status, indent)
			}
		}
	}
}
