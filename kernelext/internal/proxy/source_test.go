//go:build unix

package proxy

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestIdentifiersAreFoundBeforeTheCursor(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		code       string
		cursor, at int
	}{
		{"", 0, none}, {"", 9, none}, {" ", 1, none}, {"\n\n\n", 1, none}, {"(", 0, none}, {"a, b", 1, none}, {"[]", 2, none}, {"\x00", 0, none},
		{"x", 0, 0}, {"x", 1, 0}, {"x", -5, 0}, {"x", 1 << 40, 0}, {"x\n", 2, 0}, {"x \n\n  ", 6, 0},
		{"f()", 2, 0}, {"f(a, b)", 5, 5}, {"f(a, b)", 4, 0}, {"f(a b)", 3, 2}, {"f(a, b)", 3, 0}, {"f(a)", 4, 0}, {"P{1, 2}", 3, 0}, {"a)\n", 2, none},
		// Commands are no code; at one, GoNB looks for nothing.
		{"%ls\n(", 5, none}, {"x\n%ls\n(", 7, 0}, {"x\n!ls \\\n -l\n(", 13, 0}, {"%ls", 1, 1}, {"//gonb:%ls\n ", 12, none}, {"%%bash\n ", 8, 8},
		// Positions are in characters.
		{"ηθι", 3, 2}, {"😀", 0, 0}, {"😀", 1, 0}, {"😀(", 1, 0}, {"😀x", 1, 1}, {"😀😀", 2, 1},
	} {
		at, _, found := read(c.code).identifier(c.cursor)
		if found != (c.at != none) || found && at != c.at {
			t.Errorf("%q at %d: %d, %v", c.code, c.cursor, at, found)
		}
	}
}

func TestLinesThatEndGoNBAreKnown(t *testing.T) {
	for code, want := range map[string]int{
		"": 0, "%": 0, "!": 0, "%%": 0, "x\n%ls": 0, "% ls": 0, "%\\\nls": 0, "%%bash\n! ": 0, " % ": 0,
		"% ": 1, "!\t": 1, "!\\": 1, "x\n! \t": 2, "x\n!\\\n\\\n\t\ny": 2, "//gonb:% ": 1, "%%script": 1, "%%script \t": 1,
	} {
		if got := read(code).deadly; got != want {
			t.Errorf("%q: line %d, not %d", code, got, want)
		}
	}
	if read("x\n!"+strings.Repeat("\\\n", 1<<20)).deadly != 2 {
		t.Error("a long command is not blank")
	}
}

// FuzzContent checks, answers or passes on requests as a front end may send them.
func FuzzContent(f *testing.F) {
	for _, kind := range []string{"execute_request", "complete_request", "inspect_request", "is_complete_request", "input_reply", "shutdown_request", "comm_msg", "x_request"} {
		f.Add(kind, `{"code":"x\n%hm runs","cursor_pos":5,"detail_level":0,"value":""}`)
		f.Add(kind, `{"code":"f(😀, b)\n!ls \\\n\n( ","cursor_pos":1e300,"detail_level":-1}`)
	}
	f.Add("inspect_request", `{"code":"\ud83d\u0000 ,)","cursor_pos":2.5}`)
	f.Add("execute_request", `{"code":"%%\n%hm\n! ","silent":true,"allow_stdin":null}`)
	f.Fuzz(func(t *testing.T, kind, content string) {
		m := &message{Header: header{Type: kind}, header: encode(header{Type: kind}), parent: []byte("{}"), metadata: []byte("{}"), content: []byte(content)}
		r := &request{message: m}
		if (&Kernel{options: Options{Magics: printer{}}}).decide(r); r.answer != nil {
			return
		}
		var passed struct {
			Code   string  `json:"code"`
			Cursor float64 `json:"cursor_pos"`
		}
		if kind == "inspect_request" && json.Unmarshal(m.content, &passed) == nil {
			if at, _, found := read(passed.Code).identifier(m.number("cursor_pos")); !found || at != m.number("cursor_pos") {
				t.Errorf("GoNB would look for an identifier in %s", m.content)
			}
		}
		if read(m.text("code")).deadly > 0 && kind == "execute_request" {
			t.Errorf("GoNB would end at %s", m.content)
		}
	})
}

// The place of the cursor is marked by ^. A cell without open brackets stays as it is.
func TestOpenBracketsAreClosed(t *testing.T) {
	for marked, want := range map[string]string{
		"fmt.Println(method.Tr^":               "fmt.Println(method.Tr)",
		"x := cell.Must(dataset.Open^\ny := 1": "x := cell.Must(dataset.Open)\ny := 1",
		"f(a[g(^":                              "f(a[g()])",
		"func f() {\n\tprint(x.^":              "func f() {\n\tprint(x.)\n}",
		"if x {^":                              "if x {\n}",
		"f(\n\tg(^\n)":                         "f(\n\tg(\n))", // the last bracket closes the inner one
		"f(1)^":                                "f(1)",
		"f(\"(\", '(') // (^":                  "f(\"(\", '(') // (",
		"f(x.^ // see (g":                      "f(x. )// see (g",
		"f(\"http://x\", s.^":                  "f(\"http://x\", s.)",
		"//line foo.go:10\nx := f(^ // c":      "//line foo.go:10\nx := f( )// c",
		"/*line foo.go:10*/ f(x.^ // c":        "/*line foo.go:10*/ f(x. )// c",
		"x := `a\n//`; g(s.^ // see":           "x := `a\n//`; g(s. )// see",
		"!echo (\nf(x^":                        "!echo (\nf(x)",
		"f)(^":                                 "f)(", // wrong in another way
		"s := \"😀\"; f(s.^\ng()":               "s := \"?\"; f(s.)\ng()",
		"%%\nfmt.Println(^":                    "%%\nfmt.Println()",
	} {
		before, after, _ := strings.Cut(marked, "^")
		if got := read(before + after).legible(strings.Count(before, "\n")); got != want {
			t.Errorf("%q becomes %q, want %q", marked, got, want)
		}
	}
}

// Texts are replaced character by character, and names are not.
func TestCodeIsPlain(t *testing.T) {
	for code, want := range map[string]string{
		"f(\"😀é\", 'ü', `a\nö`); η := 1 // ß": "f(\"??\", '?', `a\n?`); η := 1 // ?",
		"!echo 😀\"é\nf(\"é\")":                "!echo ?\"é\nf(\"?\")",
		"f(\"é, s.":                           "f(\"?, s.)",
		"f(x)":                                "f(x)",
	} {
		if got := read(code).legible(0); got != want {
			t.Errorf("%q becomes %q, want %q", code, got, want)
		}
	}
}

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
			if got := read(code).completeness(); got["status"] != status || got["indent"] != indent {
				t.Errorf("%q is %v, want %s with the indent %q", code, got, status, indent)
			}
		}
	}
}
