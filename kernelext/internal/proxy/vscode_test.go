//go:build unix

package proxy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// required are the fields of messages on iopub that the Jupyter extension of VS Code fills in where they are missing or
// have another type (microsoft/vscode-jupyter, rawSocket.node.ts), with a value of the type.
var required = map[string]map[string]any{
	"stream": {"name": "", "text": ""}, "display_data": {"data": map[string]any{}, "metadata": map[string]any{}},
	"execute_input": {"code": "", "execution_count": 0.}, "error": {"ename": "", "evalue": "", "traceback": []any{}},
	"status": {"execution_state": ""}, "clear_output": {"wait": false}, "comm_open": {"comm_id": "", "target_name": "", "data": map[string]any{}},
	"comm_msg": {"comm_id": "", "data": map[string]any{}}, "comm_close": {"comm_id": ""},
}

// TestVSCode speaks to the kernel as the Jupyter extension of VS Code does, according to its source: three sockets with
// one identity, a subscription without one, no heartbeat, cells that do not stop the ones behind them, and comms.
func TestVSCode(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	c.iopub.Close()
	c.iopub = dial(t, s.connection, s.IOPub, "SUB", "")
	if err := c.iopub.send([][]byte{{1}}); err != nil {
		t.Fatal(err)
	}
	within(t, patience, "the subscription arrives", func() bool {
		return slices.ContainsFunc(s.iopub.all(), func(p *peer) bool { return p.chosen == "" && p.subscribed("x") })
	})
	send := func(on *wire, kind string, content any) string {
		m := answer(kind, nil, content)
		m.Header.Session, m.Header.Version = "7f8a3c1e", "5.2"
		m.header, m.parent = encode(m.Header), []byte("{}")
		m.metadata = []byte(`{"cellId":"vscode-notebook-cell:/n.ipynb#W0sZmlsZQ%3D%3D","trusted":true}`)
		if err := on.send(c.key.frames(m)); err != nil {
			t.Fatal(err)
		}
		return m.Header.ID
	}
	execute := func(code string) string {
		return send(c.shell, "execute_request", map[string]any{"code": code, "silent": false, "stop_on_error": false, "allow_stdin": true, "store_history": true})
	}
	send(c.shell, "kernel_info_request", struct{}{})
	c.receive(c.shell, "kernel_info_reply")
	failing, asking, magic := execute("fail"), execute("ask"), execute("%hm runs\nprint")
	send(c.shell, "comm_open", map[string]any{"comm_id": "w", "target_name": "gonb_comm", "data": map[string]any{}})
	question, asked := c.receive(c.stdin, "input_request")
	if asked != asking || !strings.Contains(string(question.content), `"prompt"`) {
		t.Errorf("cell %s asks %s", asked, question.content)
	}
	send(c.stdin, "input_reply", map[string]any{"value": "yes", "status": "ok"})
	for _, want := range []string{failing, asking, magic} {
		if _, parent := c.receive(c.shell, "execute_reply"); parent != want {
			t.Errorf("the reply is to %s, not to %s", parent, want)
		}
	}
	send(c.control, "interrupt_request", struct{}{})
	c.receive(c.control, "interrupt_reply")
	last := execute("last")
	heard := map[string]bool{}
	for ended := false; !ended; {
		frames, err := c.iopub.receive()
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.key.parse(frames)
		var content map[string]any
		if err == nil {
			err = json.Unmarshal(m.content, &content)
		}
		if err != nil || m.Header.ID == "" || m.Header.Version == "" || m.Header.Type == "" || m.Parent.Session != "7f8a3c1e" && m.Parent.Session != "test" {
			t.Fatalf("%s %s after %s: %v", m.header, m.content, m.parent, err)
		}
		for name, value := range required[m.Header.Type] {
			if got, there := content[name]; !there || kindOf(got) != kindOf(value) {
				t.Errorf("%s has no %s as VS Code needs it: %s", m.Header.Type, name, m.content)
			}
		}
		heard[m.Header.Type] = true
		ended = m.Parent.ID == last && content["execution_state"] == "idle"
	}
	for _, kind := range []string{"status", "execute_input", "stream", "error", "comm_open"} {
		if !heard[kind] {
			t.Errorf("no message is %s", kind)
		}
	}
}

// kindOf returns the JSON type of a value.
func kindOf(value any) string {
	switch encode(value)[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "list"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
