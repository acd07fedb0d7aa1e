//go:build unix

package proxy

import "testing"

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
		"s := \"😀\"; f(s.^\ng()":               "s := \"😀\"; f(s.)\ng()",
		"%%\nfmt.Println(^":                    "%%\nfmt.Println()",
	} {
		code, cursor := unmarked(marked)
		if got := closeBrackets(code, cursor); got != want {
			t.Errorf("%q becomes %q, want %q", marked, got, want)
		}
	}
}

// Texts are replaced character by character, and names are not.
func TestCodeIsPlain(t *testing.T) {
	for code, want := range map[string]string{
		"f(\"😀é\", 'ü', `a\nö`); η := 1 // ß": "f(\"??\", '?', `a\n?`); η := 1 // ?",
		"!echo 😀\"é\nf(\"é\")":                "!echo ?\"é\nf(\"?\")",
		"f(\"é, s.":                           "f(\"?, s.",
		"f(x)":                                "f(x)",
	} {
		if got := plain(code); got != want {
			t.Errorf("%q becomes %q, want %q", code, got, want)
		}
	}
}
