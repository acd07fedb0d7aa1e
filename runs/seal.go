package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
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

// chain is the checksum of a line after one of a checksum, or after what binds the first line.
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
	if at < 1 || len(line) != at+len(sealMark)+sealLength+2 || line[0] != '{' || !bytes.HasSuffix(line, []byte(`"}`)) {
		return nil, ""
	}
	return line[1:at], string(line[at+len(sealMark) : at+len(sealMark)+sealLength])
}

// errSeal is the error of a line that is not that of its checksum.
var errSeal = errors.New("its checksum does not match: a line was damaged, changed, moved or removed, or the file is another run's")

var errNoSeal = errors.New("it has no checksum")

// binding is what the lines of a run's files may be bound to: the hash of its experiment, first as
// it is and then as the checkpoint has it, with fewer epochs; and nothing, "", in files of versions
// before boundFormat.
type binding []string

// bindingOf is the binding of an experiment's files beside a checkpoint at some position, or beside
// none.
func bindingOf(e Experiment, at position) binding {
	b := binding{e.Hash()}
	if at.Experiment != "" && at.Experiment != b[0] {
		b = append(b, at.Experiment)
	}
	if at.Format < boundFormat {
		b = append(b, "")
	}
	return b
}

// to returns what the first line of a file is chained to, where it is written first.
func (b binding) to(name string) []string {
	all := slices.Clone(b)
	for i, hash := range b {
		if hash != "" {
			all[i] = hash + " " + name
		}
	}
	return all
}

// longestLine is more than a line of metrics, or of sessions, takes in bytes.
const longestLine = 1 << 20

// eachLine verifies the checksums of lines, the first of which is chained to one of some texts, and
// hands each on, with its fields where it has a checksum, as it may lack only where one of the texts
// is empty. A last line that a crash cut short is left out. What is handed on stays as it is until
// the next line.
func eachLine(lines iter.Seq2[[]byte, error], from []string, each func(line, fields []byte) error) error {
	before, n := "", 0 // checksum and number of the line before
	bad := func(err error) error { return fmt.Errorf("line %d: %w", n+1, err) }
	valid := func(fields []byte, seal string) bool {
		if n > 0 {
			return chain(before, fields) == seal
		}
		return slices.ContainsFunc(from, func(start string) bool { return chain(start, fields) == seal })
	}
	for line, err := range lines {
		if err != nil {
			return err
		}
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole {
			// A crash leaves the beginning of a line, never all of it and something else.
			if fields, seal := unseal(line[:max(0, len(line)-1)]); seal != "" && valid(fields, seal) {
				return bad(errSeal)
			}
			break
		}
		fields, seal := unseal(line)
		switch {
		case seal == "" && bytes.Contains(line, []byte(sealMark)), seal != "" && !valid(fields, seal):
			return bad(errSeal)
		case seal == "" && (before != "" || !slices.Contains(from, "")):
			return bad(errNoSeal)
		}
		if err := each(line, fields); err != nil {
			return bad(err)
		}
		before, n = seal, n+1
	}
	return nil
}

// marshalSealed writes an object as a line with a checksum, after a text that binds it.
func marshalSealed(object any, to string) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	line, _ := sealLine(text[1:len(text)-1], to)
	return line, nil
}

// unmarshalSealed reads what marshalSealed wrote with one of some texts, and says whether it has a
// checksum.
func unmarshalSealed(b []byte, object any, from ...string) (sealed bool, err error) {
	fields, seal := unseal(bytes.TrimSuffix(b, []byte("\n")))
	if seal != "" {
		if !slices.ContainsFunc(from, func(to string) bool { return chain(to, fields) == seal }) {
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

// note is what is said once of files of earlier versions.
type note struct {
	sync.Once
	to io.Writer
}

var unsealed, unbound = &note{to: os.Stderr}, &note{to: os.Stderr}

func noteUnsealed(path string) {
	unsealed.Do(func() {
		fmt.Fprintf(unsealed.to, "%s has no checksum, as files of earlier versions have none: were it damaged, that might not be noticed (said once)\n", path)
	})
}

// noteUnbound says of a checkpoint that the files beside it are not bound to their run.
func noteUnbound(path string) {
	unbound.Do(func() {
		fmt.Fprintf(unbound.to, "%s is of an earlier version, whose metrics are not bound to their run: were they exchanged for another run's, that might not be noticed (said once)\n", path)
	})
}
