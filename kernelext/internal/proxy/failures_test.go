//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// report is a line of a report by GoNB.
func report(cell, place, message, around string) string {
	if cell != "" {
		cell = `<span class="gonb-cell-line-info">` + cell + `</span> `
	}
	return `<div style="white-space: pre-wrap;">` + "\t" + `<span class="gonb-err-hover-area">` + cell + `<span class="gonb-err-location">` + place +
		`</span></span>` + message + `<div class="gonb-err-context">` + around + `</div></div>` + "\n\n"
}

const (
	reportBegins = "\n<style>\n.gonb-err-location {\n}</style>\n<div class=\"jp-RenderedText\">\n\n<div style=\"white-space: pre-wrap;\"> # gonb_0b07da30</div>\n\n"
	around       = "func main() {\n<div class=\"gonb-err-line\">fmt.Printn(&#34;x&#34;)\n</div>}\n"
)

// TestFailuresAreSaidInText has GoNB publish what it publishes for cells that fail. BUILD stands for the folder in which
// it builds cells.
func TestFailuresAreSaidInText(t *testing.T) {
	stream := func(text string) []any { return []any{"stream", map[string]string{"name": "stderr", "text": text}} }
	page := func(lines ...string) []any {
		return []any{"display_data", map[string]any{"data": map[string]string{"text/html": reportBegins + strings.Join(lines, "") + "</div>\n"}, "metadata": map[string]string{}}}
	}
	exit := func(how string) []any {
		return []any{"error", map[string]any{"ename": "ERROR", "evalue": how, "traceback": []string{how}}}
	}
	stack := "goroutine 1 [running]:\nmain.main()\n\t \x1b[7m[[ Cell [5] Line 3 ]]\x1b[0m BUILD/main.go:13 +0x67\n"
	build := `failed to run "OURS/go/go build -o BUILD/gonb_0b07da30": exit status 1`
	for name, test := range map[string]struct {
		messages  [][]any
		value     string
		traceback []string
		printed   string
		text      string // text/plain beside the report
	}{
		"a compile error": {
			[][]any{page(report("Cell[3]: Line 2", "./main.go:10:1: ", "undefined: fmt.Printn", around), `<div style="white-space: pre-wrap;"> </div>`), exit(build)},
			"Cell[3]: Line 2: undefined: fmt.Printn (Println?)", []string{"Cell[3]: Line 2: undefined: fmt.Printn (Println?)"}, "", "Cell[3]: Line 2: undefined: fmt.Printn (Println?)",
		},
		"two of them": {
			[][]any{page(report("Cell[3]: Line 2", "./main.go:10:1: ", "undefined: a&lt;b", around), report("Cell[1]: Line 1", "./main.go:3:1: ", "x redeclared", around)), exit(build)},
			"Cell[3]: Line 2: undefined: a<b\nCell[1]: Line 1: x redeclared", []string{"Cell[3]: Line 2: undefined: a<b", "Cell[1]: Line 1: x redeclared"}, "",
			"Cell[3]: Line 2: undefined: a<b\nCell[1]: Line 1: x redeclared",
		},
		"an error in a line that GoNB adds": {
			[][]any{page(report("", "BUILD/main.go:7:1: ", "expected operand, found '}'", around)), exit(`parsing go files in TempDir "BUILD": BUILD/main.go:7:1: expected operand, found '}'`)},
			"expected operand, found '}'", []string{"expected operand, found '}'"}, "", "expected operand, found '}'",
		},
		"modules that are not found": {
			[][]any{page(`<div style="white-space: pre-wrap;"> failed to run "OURS/go/go get": exit status 1</div>`, `<div style="white-space: pre-wrap;"> go: no such module</div>`), exit(`failed to run "OURS/go/go get": exit status 1`)},
			"failed to run \"go get\": exit status 1\ngo: no such module", []string{`failed to run "go get": exit status 1`, "go: no such module"}, "",
			"failed to run \"go get\": exit status 1\ngo: no such module",
		},
		"a panic": {
			[][]any{stream("working\npanic: "), stream("assignment to entry in nil map"), stream("\n\n" + stack), stream("exit status 2\n"), page(report("Cell[5]: Line 3", "BUILD/main.go:13", " +0x67", around)), exit("exit status 2")},
			"panic: assignment to entry in nil map", []string{"panic: assignment to entry in nil map", "# gonb", "Cell[5]: Line 3"}, "main.go:13 +0x67", "Cell[5]: Line 3",
		},
		"a signal": {
			[][]any{stream("panic: runtime error: nil pointer\n[signal SIGSEGV]\n\n" + stack), exit("exit status 2")},
			"panic: runtime error: nil pointer", []string{"panic: runtime error: nil pointer"}, "[[ Cell [5] Line 3 ]]\x1b[0m main.go:13", "",
		},
		"a panic behind much output, with many goroutines": {
			[][]any{stream(strings.Repeat("x", 2*mostSaid) + "\n"), stream("panic: deep\n\tand wide\n\n" + stack), stream(strings.Repeat(stack, 4000)), exit("exit status 2")},
			"panic: deep\n\tand wide", []string{"panic: deep", "\tand wide"}, "main.go:13", "",
		},
		"a deadlock":                     {[][]any{stream("fatal error: all goroutines are asleep - deadlock!\n\n" + stack), exit("exit status 2")}, "fatal error: all goroutines are asleep - deadlock!", []string{"fatal error: all goroutines are asleep - deadlock!"}, "main.go", ""},
		"log.Fatal":                      {[][]any{stream("one\n2026/11/28 19:08:47 stop: it\n"), stream("exit status 1\n"), exit("exit status 1")}, "exit status 1: stop: it", []string{"exit status 1: stop: it"}, "one", ""},
		"a panic that the cell survives": {[][]any{stream("panic: no\n\nbad\n"), exit("exit status 1")}, "exit status 1: bad", []string{"exit status 1: bad"}, "", ""},
		"os.Exit":                        {[][]any{stream("exit status 3\n"), exit("exit status 3")}, "exit status 3", []string{"exit status 3"}, "exit", ""},
		"usage":                          {[][]any{stream("Usage of BUILD/gonb_0b07da30:\n"), exit("exit status 2")}, "exit status 2: Usage of gonb_0b07da30:", []string{"exit status 2: Usage of gonb_0b07da30:"}, "Usage of gonb_0b07da30:", ""},
		"a command":                      {[][]any{exit("executing special commands in cell: `%cd \"x\"` failed")}, "executing special commands in cell: `%cd \"x\"` failed", []string{"executing special commands in cell: `%cd \"x\"` failed"}, "", ""},
		"-raw_error": {
			[][]any{{"error", map[string]any{"evalue": "BUILD/main.go:10:1: no", "traceback": []string{"Cell[3]: Line 2\nx\n^\nno", "in BUILD/main.go", ""}}}},
			"main.go:10:1: no", []string{"Cell[3]: Line 2\nx\n^\nno", "in main.go", ""}, "", "",
		},
		"GoNB's words": {[][]any{exit(`cannot read "BUILD/main.go"`)}, `cannot read "main.go"`, []string{`cannot read "main.go"`}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := startKernel(t)
			c := s.connect(t)
			ours := s.options.Directory
			var all []map[string]any
			for _, m := range test.messages {
				all = append(all, map[string]any{"Kind": m[0], "Content": m[1]})
			}
			replace := strings.NewReplacer("BUILD", filepath.Join(ours, "tmp", "gonb_0b07da30"), "OURS", ours)
			id := c.request(c.shell, "execute_request", code("messages: "+replace.Replace(string(encode(all)))))
			reply, _ := c.receive(c.shell, "execute_reply")
			contents := c.contents(id)
			var told, replied struct {
				Status, EName, EValue string
				Traceback             []string
			}
			if err := json.Unmarshal([]byte(contents["error"]), &told); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(reply.content, &replied); err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(slices.Clone(test.traceback), func(line string) bool { return strings.HasPrefix(line, "#") })
			if told.EValue != test.value || replied.EValue != test.value || replied.Status != "error" || !slices.Equal(told.Traceback, want) || !slices.Equal(replied.Traceback, want) {
				t.Errorf("the error is %q, traceback %q\nand the reply %+v", told.EValue, told.Traceback, replied)
			}
			if !strings.Contains(contents["stream"], test.printed) {
				t.Errorf("printed %q", contents["stream"])
			}
			var shown struct{ Data map[string]string }
			_ = json.Unmarshal([]byte(contents["display_data"]), &shown)
			if shown.Data["text/plain"] != test.text || test.text != "" && shown.Data["text/html"] == "" {
				t.Errorf("shown are %q", shown.Data)
			}
			delete(contents, "execute_input")
			if said := fmt.Sprint(contents, string(reply.content)); strings.Contains(said, "gonb_0b07da30/") || strings.Contains(said, ours) {
				t.Errorf("a path of the build is in %s", said)
			}
		})
	}
}

// contents returns the last content of each kind of message about a request, and all text of streams.
func (c *client) contents(id string) map[string]string {
	c.t.Helper()
	contents := map[string]string{}
	for {
		frames, err := c.iopub.receive()
		if err != nil {
			c.t.Fatal(err)
		}
		m, err := c.key.parse(frames)
		if err != nil {
			c.t.Fatal(err)
		}
		if !strings.Contains(string(m.parent), id) {
			continue
		}
		var content struct{ Text string }
		_ = json.Unmarshal(m.content, &content)
		if m.Header.Type == "stream" {
			contents["stream"] += content.Text
			continue
		}
		contents[m.Header.Type] = string(m.content)
		if strings.Contains(string(m.content), `"idle"`) {
			return contents
		}
	}
}

func TestPagesHaveText(t *testing.T) {
	for page, text := range map[string]string{
		"<b>bold</b> &amp; so":            "bold & so",
		"<style>a{}</style><p>a</p>b<br>": "a\nb",
		"<table><tr><th>RUN</th><td>1</td></tr><tr><td>b</td><td>2</td></tr></table>": "RUN 1\nb 2",
		`<svg><style>a</style><text>axis</text></svg><img src="data:xx"> x`:           "x",
		"a < b": "a < b", "": "", `<img src="` + strings.Repeat("x", 2*mostSaid): "",
	} {
		if got := textOf(page); got != text {
			t.Errorf("the text of %.60q is %q, not %q", page, got, text)
		}
	}
	for _, data := range []map[string]string{{"text/html": "<b>x</b>"}, {"text/markdown": "x"}, {"text/plain": "x", "text/html": "y"}} {
		if withText(data)["text/plain"] != "x" {
			t.Errorf("data %v", data)
		}
	}
	s := startKernel(t)
	c := s.connect(t)
	for content, want := range map[string]string{
		`{"data":{"text/html":"<b>x</b>"},"metadata":{}}`: `{"data":{"text/html":"\u003cb\u003ex\u003c/b\u003e","text/plain":"x"},"metadata":{}}`,
		`{"data":{"image/png":"AA"},"metadata":{}}`:       `{"data":{"image/png":"AA"},"metadata":{}}`,
		`{"data":{"text/markdown":"**x**"}}`:              `{"data":{"text/markdown":"**x**","text/plain":"**x**"}}`,
		`{"data":{"text/html":"<b>","text/plain":"y"}}`:   `{"data":{"text/html":"\u003cb\u003e","text/plain":"y"}}`,
	} {
		for _, kind := range []string{"display_data", "update_display_data", "execute_result"} {
			id := c.request(c.shell, "execute_request", code(`messages: [{"Kind":"`+kind+`","Content":`+content+`}]`))
			if got := c.contents(id)[kind]; got != want {
				t.Errorf("%s became %s", content, got)
			}
		}
	}
}

// TestCellsFailWhateverGoNBSays has magics fail, and a run refused, in cells that GoNB calls successful or not.
func TestCellsFailWhateverGoNBSays(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	for cell, want := range map[string]string{
		"%hm fail": "%hm fail: it failed", "%hm fail\n%hm runs": "%hm fail: it failed", "%hm fail\nx()": "%hm fail: it failed",
		"%hm fail\nmessages: []": "%hm fail: it failed", "fail": "it failed",
	} {
		for _, silent := range []bool{false, true} {
			c.request(c.shell, "execute_request", code("sleep a little"))
			id := c.request(c.shell, "execute_request", map[string]any{"code": cell, "silent": silent})
			behind := c.request(c.shell, "execute_request", code("behind"))
			c.receive(c.shell, "execute_reply")
			reply, _ := c.receive(c.shell, "execute_reply")
			var r struct{ Status, EValue string }
			if err := json.Unmarshal(reply.content, &r); err != nil || r.Status != "error" || r.EValue != want {
				t.Errorf("%q: %s", cell, reply.content)
			}
			contents := c.contents(id)
			if !strings.Contains(contents["error"], want) || strings.Contains(contents["stream"], "magic runs") {
				t.Errorf("%q: %v", cell, contents)
			}
			if reply, parent := c.receive(c.shell, "execute_reply"); parent != behind || !strings.Contains(string(reply.content), "aborted") {
				t.Errorf("the cell behind %q: %s", cell, reply.content)
			}
		}
	}
	c.request(c.shell, "execute_request", code("ask"))
	c.receive(c.stdin, "input_request") // the cell runs
	s.Fail("the run x is refused")
	c.request(c.stdin, "input_reply", map[string]string{"value": "gone on"})
	if reply, _ := c.receive(c.shell, "execute_reply"); !strings.Contains(string(reply.content), "the run x is refused") {
		t.Errorf("the reply is %s", reply.content)
	}
	if got := c.execute("next"); got != "[next]next" {
		t.Errorf("the next cell printed %s", got)
	}
	s.Fail("nobody runs")
	if got := c.execute("next"); got != "[next]next" {
		t.Errorf("a cell after a failure between cells printed %s", got)
	}
}

// TestTimes checks that all messages have times with fractions, in one form, and that replies to cells tell their start.
func TestTimes(t *testing.T) {
	form := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)
	c := startKernel(t).connect(t)
	for _, cell := range []string{"x", "fail", "% "} {
		c.request(c.shell, "execute_request", code(cell))
		reply, _ := c.receive(c.shell, "execute_reply")
		var metadata struct{ Started string }
		if err := json.Unmarshal(reply.metadata, &metadata); err != nil || !form.MatchString(metadata.Started) || metadata.Started > reply.Header.Date {
			t.Errorf("%q started at %q and ended at %s", cell, metadata.Started, reply.Header.Date)
		}
		for _, kind := range []string{"status", "status"} {
			if m, _ := c.receive(c.iopub, kind); !form.MatchString(m.Header.Date) {
				t.Errorf("%s at %s", kind, m.Header.Date)
			}
		}
	}
}
