//go:build unix

package proxy

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
)

// protocolVersion is the version of the Jupyter protocol that GoNB speaks.
const protocolVersion = "5.4"

var delimiter = []byte("<IDS|MSG>")

type header struct {
	ID       string `json:"msg_id"`
	Username string `json:"username"`
	Session  string `json:"session"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
	Date     string `json:"date"`
	Subshell string `json:"subshell_id,omitempty"`
}

// message is a Jupyter message. Its parts are kept as received, so that unedited parts are passed
// on byte for byte.
type message struct {
	identities [][]byte // frames before the delimiter
	// The four signed parts, as JSON, and the frames after them.
	header, parent, metadata, content []byte
	buffers                           [][]byte

	Header, Parent header                     // Parent is empty if the parent is malformed
	fields         map[string]json.RawMessage // fields of the content, once check has accepted it
}

// key signs messages; with an empty key, messages are not signed, as in Jupyter.
type key []byte

func (k key) parse(frames [][]byte) (*message, error) {
	for i, f := range frames {
		if !bytes.Equal(f, delimiter) {
			continue
		}
		identities, signed := frames[:i], frames[i+1:]
		if len(signed) < 5 {
			return nil, fmt.Errorf("there are %d frames after the delimiter, fewer than 5", len(signed))
		}
		m := &message{identities: identities, header: signed[1], parent: signed[2], metadata: signed[3], content: signed[4], buffers: signed[5:]}
		if len(k) > 0 && !hmac.Equal(signed[0], k.signature(m).hex()) {
			return nil, errors.New("the signature is wrong or missing")
		}
		if err := json.Unmarshal(m.header, &m.Header); err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		_ = json.Unmarshal(m.parent, &m.Parent)
		return m, nil
	}
	return nil, errors.New("the message has no delimiter")
}

type signature [sha256.Size]byte

func (k key) signature(m *message) (s signature) {
	mac := hmac.New(sha256.New, k)
	for _, part := range [][]byte{m.header, m.parent, m.metadata, m.content} {
		mac.Write(part)
	}
	mac.Sum(s[:0])
	return s
}

func (s signature) hex() []byte { return hex.AppendEncode(nil, s[:]) }

func (k key) frames(m *message) [][]byte {
	var signature []byte
	if len(k) > 0 {
		signature = k.signature(m).hex()
	}
	frames := append([][]byte(nil), m.identities...)
	frames = append(frames, delimiter, signature, m.header, m.parent, m.metadata, m.content)
	return append(frames, m.buffers...)
}

func answer(kind string, parent []byte, content any) *message {
	var to header
	_ = json.Unmarshal(parent, &to) // a parent without session belongs to nobody
	m := &message{
		Header: header{
			ID: rand.Text(), Username: to.Username, Session: to.Session, Type: kind,
			Version: protocolVersion, Date: now(),
		},
		parent: parent, metadata: []byte("{}"),
	}
	m.header, m.content = encode(m.Header), encode(content)
	return m
}

// now returns the time in the form of all dates that this kernel sends.
func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // JSON can express everything that this package sends
	}
	return b
}

// text returns a field of the content that check has found to be a string.
func (m *message) text(name string) (value string) {
	_ = json.Unmarshal(m.fields[name], &value)
	return value
}

// number returns a field of the content that check has found to be a number, without its fraction
// and limited to possible text lengths.
func (m *message) number(name string) int {
	var value float64
	_ = json.Unmarshal(m.fields[name], &value)
	const most = 1 << 40
	return int(min(max(value, -most), most))
}

func (m *message) set(name string, value any) {
	m.fields[name] = encode(value)
	m.content = encode(m.fields)
}

func failure(what string) map[string]any {
	return map[string]any{"status": "error", "ename": "ERROR", "evalue": what, "traceback": []string{what}}
}

// introduce replaces fields of GoNB's answer to the question who the kernel is. It sets Go as the language
// for highlighting the code of exported notebooks, which GoNB does not set.
func (m *message) introduce(as map[string]any) {
	var info, language map[string]any
	if json.Unmarshal(m.content, &info) != nil {
		return
	}
	maps.Copy(info, as)
	if language, _ = info["language_info"].(map[string]any); language != nil {
		language["pygments_lexer"] = "go"
	}
	m.content = encode(info)
}

// hover edits GoNB's explanation of a name. It hides an explanation that only says why there is none. GoNB explains Go
// in Markdown, and uses plain text only for its own help and for such failures.
func (m *message) hover(by Magics) {
	var explanation struct {
		Status   string            `json:"status"`
		Found    bool              `json:"found"`
		Data     map[string]string `json:"data"`
		Metadata struct{}          `json:"metadata"`
	}
	if json.Unmarshal(m.content, &explanation) != nil {
		return
	}
	plain, said := explanation.Data["text/plain"], explanation.Data["text/markdown"]
	if plain != "" && !strings.HasPrefix(plain, "## GoNB Help") {
		m.content = encode(notFound)
	} else if more := by.Hover(said); more != said {
		explanation.Data["text/markdown"] = more
		m.content = encode(explanation)
	}
}

// notFound is the content of an explanation that was not found.
var notFound = map[string]any{"status": "ok", "found": false, "data": struct{}{}, "metadata": struct{}{}}
