package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Files that are read back carry checksums: checkpoints among their texts, lines of
// JSON as their last key, experiment files in a comment. Those of earlier versions
// may have none.

// sealMark is what the checksum of a line follows; it has sealLength digits.
const (
	sealMark   = `,"checksum":"`
	sealLength = 16
)

// chain is the checksum of a line after one of a checksum.
func chain(before string, fields []byte) string {
	sum := sha256.Sum256(append([]byte(before+"\n"), fields...))
	return hex.EncodeToString(sum[:])[:sealLength]
}

// sealLine is the line of fields, without braces, and its checksum, after the line of
// a checksum.
func sealLine(fields []byte, before string) (line []byte, seal string) {
	seal = chain(before, fields)
	return fmt.Appendf(nil, "{%s%s%s\"}\n", fields, sealMark, seal), seal
}

// unseal splits a line into its fields and its checksum, which is empty where it
// has none.
func unseal(line []byte) (fields []byte, seal string) {
	at := bytes.LastIndex(line, []byte(sealMark))
	if at < 1 || len(line) != at+len(sealMark)+sealLength+2 {
		return nil, ""
	}
	return line[1:at], string(line[at+len(sealMark) : at+len(sealMark)+sealLength])
}

// errSeal is the error of a line that is not that of its checksum.
var errSeal = errors.New("its checksum does not match: a line was damaged, changed, moved or removed")

// eachLine verifies the checksums of lines, and hands each on, with its fields where
// it has a checksum; a last line that a crash cut short is left out.
func eachLine(b []byte, each func(line, fields []byte) error) error {
	before, n := "", 0 // checksum and number of the line before
	bad := func(err error) error { return fmt.Errorf("line %d: %w", n+1, err) }
	end := bytes.LastIndexByte(b, '\n') + 1
	for line := range bytes.Lines(b[:end]) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		fields, seal := unseal(line)
		switch {
		case seal == "" && before != "":
			return bad(errors.New("it has no checksum, as those before it have"))
		case seal != "" && chain(before, fields) != seal:
			return bad(errSeal)
		}
		if err := each(line, fields); err != nil {
			return bad(err)
		}
		before, n = seal, n+1
	}
	if torn := b[end:]; len(torn) > 0 {
		// A crash leaves the beginning of a line, never all of it and something else.
		if fields, seal := unseal(torn[:len(torn)-1]); seal != "" && chain(before, fields) == seal {
			return bad(errSeal)
		}
	}
	return nil
}

// marshalSealed writes an object as a line with a checksum.
func marshalSealed(object any) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	line, _ := sealLine(text[1:len(text)-1], "")
	return line, nil
}

// unmarshalSealed reads what marshalSealed wrote, and says whether it has a checksum.
func unmarshalSealed(b []byte, object any) (sealed bool, err error) {
	fields, seal := unseal(bytes.TrimSuffix(b, []byte("\n")))
	if seal != "" {
		if chain("", fields) != seal {
			return true, errSeal
		}
		return true, json.Unmarshal(b, object)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // such as a checksum whose key is damaged
	return false, d.Decode(object)
}

// textSeal begins the last line of an experiment file in the directory of a run; the
// checksum follows.
const textSeal = "# checksum: "

// sealText adds the line of the checksum to a text in TOML.
func sealText(text []byte) []byte {
	return fmt.Appendf(bytes.Clone(text), "%s%x\n", textSeal, sha256.Sum256(text))
}

// verifyText refuses a text that is not that of its checksum, and says whether it has
// one.
func verifyText(text []byte) (sealed bool, err error) {
	at := bytes.LastIndex(text, []byte("\n"+textSeal))
	if at < 0 {
		return false, nil
	}
	if !bytes.Equal(sealText(text[:at+1]), text) {
		return true, errors.New("its checksum does not match: the file was damaged or changed")
	}
	return true, nil
}

// unsealed notes, once, that there is a file without a checksum.
var unsealed = struct {
	sync.Once
	to io.Writer
}{to: os.Stderr}

func noteUnsealed(path string) {
	unsealed.Do(func() {
		fmt.Fprintf(unsealed.to, "%s has no checksum, as files of earlier versions have none: were it damaged, that might not be noticed (said once)\n", path)
	})
}
