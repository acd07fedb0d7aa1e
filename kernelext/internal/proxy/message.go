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
	"strings"
	"time"
)

// protocolVersion is the version of the Jupyter protocol that GoNB speaks.
const protocolVersion = "5.4"

var delimiter = []byte("<IDS|MSG>")

// header is the header of a Jupyter message.
type header struct {
	ID       string `json:"msg_id"`
	Username string `json:"username"`
	Session  string `json:"session"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
	Date     string `json:"date"`
}

// message is a Jupyter message. Its parts are kept as they came, so that what is
// not edited is passed on byte for byte.
type message struct {
	identities [][]byte // what stands before the delimiter
	// The four parts that are signed, as JSON, and what follows them.
	header, parent, metadata, content []byte
	buffers                           [][]byte

	Header header
	fields map[string]json.RawMessage // those of the content, once check has passed it
}

// key signs messages; an empty one does not, as Jupyter has it.
type key []byte

// parse reads a message and checks its signature.
func (k key) parse(frames [][]byte) (*message, error) {
	for i, f := range frames {
		if !bytes.Equal(f, delimiter) {
			continue
		}
		identities, signed := frames[:i], frames[i+1:]
		if len(signed) < 5 {
			return nil, fmt.Errorf("%d frames after the delimiter, fewer than 5", len(signed))
		}
		m := &message{identities: identities, header: signed[1], parent: signed[2], metadata: signed[3], content: signed[4], buffers: signed[5:]}
		if len(k) > 0 && !hmac.Equal(signed[0], k.signature(m).hex()) {
			return nil, errors.New("the signature is wrong or missing")
		}
		if err := json.Unmarshal(m.header, &m.Header); err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		return m, nil
	}
	return nil, errors.New("no delimiter")
}

// signature is what a key signs a message with.
type signature [sha256.Size]byte

func (k key) signature(m *message) (s signature) {
	mac := hmac.New(sha256.New, k)
	for _, part := range [][]byte{m.header, m.parent, m.metadata, m.content} {
		mac.Write(part)
	}
	mac.Sum(s[:0])
	return s
}

// hex is a signature as messages have it.
func (s signature) hex() []byte { return hex.AppendEncode(nil, s[:]) }

// frames signs a message and returns it as it is sent.
func (k key) frames(m *message) [][]byte {
	var signature []byte
	if len(k) > 0 {
		signature = k.signature(m).hex()
	}
	frames := append([][]byte(nil), m.identities...)
	frames = append(frames, delimiter, signature, m.header, m.parent, m.metadata, m.content)
	return append(frames, m.buffers...)
}

// answer is a message of this kernel with another one, or its header, as
// parent.
func answer(kind string, parent []byte, content any) *message {
	var to header
	_ = json.Unmarshal(parent, &to) // a parent without session is one of nobody
	m := &message{
		Header: header{
			ID: rand.Text(), Username: to.Username, Session: to.Session, Type: kind,
			Version: protocolVersion, Date: time.Now().UTC().Format(time.RFC3339Nano),
		},
		parent: parent, metadata: []byte("{}"),
	}
	m.header, m.content = encode(m.Header), encode(content)
	return m
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what this package sends, JSON can hold
	}
	return b
}

// text is a field of the content that check has found to be a text.
func (m *message) text(name string) (value string) {
	_ = json.Unmarshal(m.fields[name], &value)
	return value
}

// number is a field of the content that check has found to be a number, without its
// fraction, and within what the length of a text can be.
func (m *message) number(name string) int {
	var value float64
	_ = json.Unmarshal(m.fields[name], &value)
	const most = 1 << 40
	return int(min(max(value, -most), most))
}

// set changes a field of the content.
func (m *message) set(name string, value any) {
	m.fields[name] = encode(value)
	m.content = encode(m.fields)
}

// sizeImage makes the metadata of a message that shows a PNG image, its size and its
// alternative text, that of the image, where front ends look for it: GoNB passes on texts and
// numbers alone.
func (m *message) sizeImage() {
	const media = "image/png"
	var shown struct {
		Data      map[string]json.RawMessage `json:"data"`
		Metadata  map[string]json.RawMessage `json:"metadata"`
		Transient json.RawMessage            `json:"transient,omitempty"`
	}
	if m.Header.Type != "display_data" || json.Unmarshal(m.content, &shown) != nil || shown.Data[media] == nil || shown.Metadata["width"] == nil {
		return
	}
	shown.Metadata = map[string]json.RawMessage{media: encode(shown.Metadata)}
	m.content = encode(shown)
}

// nameLanguage names Go as the language that exported notebooks are coloured as, which GoNB
// does not, and says whether the message is one to change.
func (m *message) nameLanguage() bool {
	var info, language map[string]json.RawMessage
	if m.Header.Type != "kernel_info_reply" || json.Unmarshal(m.content, &info) != nil || json.Unmarshal(info["language_info"], &language) != nil {
		return false
	}
	language["pygments_lexer"] = encode("go")
	info["language_info"] = encode(language)
	m.content = encode(info)
	return true
}

// hideFailure takes out of an explanation why there is none, which GoNB puts in its place as plain
// text, and reports whether it did. Explanations of Go are Markdown, and only GoNB's own help is
// plain text, too.
func (m *message) hideFailure() bool {
	var explanation struct {
		Data struct {
			Plain string `json:"text/plain"`
		} `json:"data"`
	}
	if m.Header.Type != "inspect_reply" || json.Unmarshal(m.content, &explanation) != nil ||
		explanation.Data.Plain == "" || strings.HasPrefix(explanation.Data.Plain, "## GoNB Help") {
		return false
	}
	m.content = encode(notFound)
	return true
}

// notFound is the content of an explanation of nothing.
var notFound = map[string]any{"status": "ok", "found": false, "data": struct{}{}, "metadata": struct{}{}}
