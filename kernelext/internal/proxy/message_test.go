//go:build unix

package proxy

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestSignedMessagesComeBack(t *testing.T) {
	for _, k := range []key{key("secret"), nil} {
		m := answer("x_request", encode(header{Session: "s"}), map[string]int{"a": 1})
		m.identities = [][]byte{{1}, {2}}
		m.buffers = [][]byte{{3}}
		frames := k.frames(m)
		got, err := k.parse(frames)
		if err != nil {
			t.Fatal(err)
		}
		if got.Header != m.Header || len(got.identities) != 2 || len(got.buffers) != 1 || string(got.content) != `{"a":1}` {
			t.Errorf("%+v", got)
		}
		for i := 3; len(k) > 0 && i < 8; i++ { // the signature and what it signs
			forged := slices.Clone(frames)
			forged[i] = append(slices.Clone(forged[i]), ' ')
			if _, err := k.parse(forged); err == nil {
				t.Errorf("frame %d can be forged", i)
			}
		}
	}
}

func TestCheckAddsWhatGoNBNeeds(t *testing.T) {
	m := answer("execute_request", []byte("{}"), map[string]any{"code": "x", "own": []int{1}})
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(m.content, &content); err != nil {
		t.Fatal(err)
	}
	if content["silent"] != false || content["store_history"] != true || content["code"] != "x" || content["own"] == nil {
		t.Errorf("%v", content)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("execute_request", "{}", "{}", `{"code":"x","silent":true}`)
	f.Add("inspect_request", "{}", "null", `{"code":"","cursor_pos":1e9}`)
	f.Add("shutdown_request", "null", "{}", `null`)
	f.Fuzz(func(t *testing.T, kind, parent, metadata, content string) {
		m := &message{header: encode(header{Type: kind}), parent: []byte(parent), metadata: []byte(metadata), content: []byte(content)}
		k := key("k")
		got, err := k.parse(k.frames(m))
		if err != nil {
			t.Fatal(err)
		}
		if got.check() != nil {
			return
		}
		// What GoNB takes for granted.
		var c map[string]any
		if err := json.Unmarshal(got.content, &c); err != nil {
			t.Fatal(err)
		}
		if got.Header.Type == "execute_request" {
			_, code := c["code"].(string)
			_, silent := c["silent"].(bool)
			_, store := c["store_history"].(bool)
			if !code || !silent || !store {
				t.Errorf("passed %s", got.content)
			}
		}
	})
}

// The size of an image becomes that of its media type; other messages stay as they are.
func TestImagesAreSized(t *testing.T) {
	for kind, change := range map[string][2]string{
		"display_data": {`{"data":{"image/png":"AA"},"metadata":{"alt":"a","width":3},"transient":{}}`, `{"data":{"image/png":"AA"},"metadata":{"image/png":{"alt":"a","width":3}},"transient":{}}`},
		"stream":       {`{"data":{"image/png":"AA"},"metadata":{"width":3}}`, `{"data":{"image/png":"AA"},"metadata":{"width":3}}`},
	} {
		m := &message{Header: header{Type: kind}, content: []byte(change[0])}
		(&Kernel{}).explain(&cell{}, m)
		if string(m.content) != change[1] {
			t.Errorf("%s became %s", kind, m.content)
		}
	}
	for _, content := range []string{`{"data":{"text/plain":"x"},"metadata":{"width":3}}`, `{"data":{"image/png":"AA"},"metadata":{}}`} {
		m := &message{Header: header{Type: "display_data"}, content: []byte(content)}
		if (&Kernel{}).explain(&cell{}, m); string(m.content) != content {
			t.Errorf("%s became %s", content, m.content)
		}
	}
}

func TestTheKernelIntroducesItself(t *testing.T) {
	m := &message{content: []byte(`{"implementation":"gonb","language_info":{"name":"go","pygments_lexer":""},"status":"ok"}`)}
	m.introduce(map[string]any{"implementation": "ours"})
	if want := `{"implementation":"ours","language_info":{"name":"go","pygments_lexer":"go"},"status":"ok"}`; string(m.content) != want {
		t.Errorf("it became %s", m.content)
	}
}
