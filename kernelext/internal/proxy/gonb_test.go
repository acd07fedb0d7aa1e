//go:build unix

package proxy

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
)

// unmarked returns code without the mark ^ of a cursor, and its place in UTF-16.
func unmarked(marked string) (code string, cursor int) {
	before, after, _ := strings.Cut(marked, "^")
	return before + after, len(utf16.Encode([]rune(before)))
}

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
		// Positions are in UTF-16.
		{"ηθι", 3, 2}, {"😀", 0, 0}, {"😀", 1, 0}, {"😀", 2, 0}, {"😀(", 2, 0}, {"😀x", 2, 2}, {"😀😀", 4, 2},
	} {
		at, found := identifier(c.code, c.cursor)
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
		if got := deadly(code); got != want {
			t.Errorf("%q: line %d, not %d", code, got, want)
		}
	}
	if deadly("x\n!"+strings.Repeat("\\\n", 1<<20)) != 2 {
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
		if m.check() != nil || m.explained(printer{}) != nil {
			return
		}
		if kind == "execute_request" {
			m.prepare()
		}
		if m.spare() != nil {
			return
		}
		var passed struct {
			Code   string  `json:"code"`
			Cursor float64 `json:"cursor_pos"`
		}
		if kind == "inspect_request" && json.Unmarshal(m.content, &passed) == nil {
			if at, found := identifier(passed.Code, m.number("cursor_pos")); !found || at != m.number("cursor_pos") {
				t.Errorf("GoNB would look for an identifier in %s", m.content)
			}
		}
		if deadly(m.text("code")) > 0 && kind == "execute_request" {
			t.Errorf("GoNB would end at %s", m.content)
		}
	})
}
