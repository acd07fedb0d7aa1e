//go:build unix

package proxy

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSubshells runs magics in a subshell while a cell waits for an answer.
func TestSubshells(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	send := func(on *wire, kind, subshell string, content any) (reply string) {
		t.Helper()
		m := answer(kind, encode(header{Session: "test"}), content)
		m.Header.Subshell, m.parent = subshell, []byte("{}")
		m.header = encode(m.Header)
		if err := on.send(c.key.frames(m)); err != nil {
			t.Fatal(err)
		}
		r, parent := c.receive(on, strings.TrimSuffix(kind, "_request")+"_reply")
		if parent != m.Header.ID {
			t.Errorf("the reply to %s is to another message", kind)
		}
		if kind != "execute_request" {
			return string(r.content)
		}
		kinds, text := c.outputs(parent)
		return string(r.content) + " " + strings.Join(kinds, " ") + " " + text
	}
	running := c.request(c.shell, "execute_request", code("ask"))
	c.receive(c.stdin, "input_request")
	var created struct{ Status, Subshell_ID string }
	if err := json.Unmarshal([]byte(send(c.control, "create_subshell_request", "", struct{}{})), &created); err != nil || created.Status != "ok" || created.Subshell_ID == "" {
		t.Fatalf("%+v, %v", created, err)
	}
	sub := created.Subshell_ID
	for _, test := range []struct {
		on             *wire
		kind, subshell string
		content        any
		want           []string
	}{
		{c.control, "list_subshell_request", "", struct{}{}, []string{`["` + sub + `"]`}},
		{c.shell, "execute_request", sub, code("%hm runs\n%hm two"), []string{`"status":"ok"`, "statusbusy execute_input stream stream statusidle", "[%hm runs\n%hm two]magic runsmagic two"}},
		{c.shell, "execute_request", sub, code("%hm fail\n%hm two"), []string{`"status":"error"`, "it failed", "statusbusy execute_input error statusidle"}},
		{c.shell, "execute_request", sub, code("%hm runs\nx"), []string{"a subshell runs only %hm lines"}},
		{c.shell, "execute_request", "other", code("%hm runs"), []string{"there is no subshell"}},
		{c.shell, "complete_request", sub, map[string]any{"code": "%hm st", "cursor_pos": 6}, []string{"st!"}},
		{c.shell, "complete_request", sub, map[string]any{"code": "fmt.P", "cursor_pos": 5}, []string{`"matches":[]`}},
		{c.shell, "inspect_request", sub, map[string]any{"code": "fmt", "cursor_pos": 1}, []string{`"found":false`}},
		{c.shell, "create_subshell_request", "", struct{}{}, []string{"control socket"}},
		{c.control, "delete_subshell_request", "", map[string]any{"subshell_id": "other"}, []string{"there is no subshell"}},
		{c.control, "delete_subshell_request", "", map[string]any{"subshell_id": sub}, []string{`"ok"`}},
		{c.control, "list_subshell_request", "", struct{}{}, []string{`"subshell_id":[]`}},
		{c.shell, "execute_request", sub, code("%hm runs"), []string{"there is no subshell"}},
	} {
		got := send(test.on, test.kind, test.subshell, test.content)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, not %s", test.kind, encode(test.content), got, want)
			}
		}
	}
	c.request(c.stdin, "input_reply", map[string]string{"value": "yes"})
	if _, text := c.outputs(running); !strings.HasSuffix(text, "yes") {
		t.Errorf("the cell printed %q", text)
	}
}
