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

// Files that are read back carry checksums: checkpoints in their metadata, lines of JSON as their
// last key, experiment files in a comment. Files of earlier versions may have none.

// sealMark precedes the checksum of a line. A checksum has sealLength hexadecimal digits.
const (
	sealMark   = `,"checksum":"`
	sealLength = 16
)

// chain returns the checksum of a line with the given fields. before is the checksum of the previous
// line or, for the first line, the text to which the line is chained.
func chain(before string, fields []byte) string {
	sum := sha256.Sum256(append([]byte(before+"\n"), fields...))
	return hex.EncodeToString(sum[:])[:sealLength]
}

// sealLine returns a line with the given fields, and its checksum, which is chained to before. fields are
// JSON without braces.
func sealLine(fields []byte, before string) (line []byte, seal string) {
	seal = chain(before, fields)
	return fmt.Appendf(nil, "{%s%s%s\"}\n", fields, sealMark, seal), seal
}

// unseal splits a line into its fields and its checksum. The checksum is empty if the line has none.
func unseal(line []byte) (fields []byte, seal string) {
	mark := bytes.LastIndex(line, []byte(sealMark))
	if mark < 1 || len(line) != mark+len(sealMark)+sealLength+2 || line[0] != '{' || !bytes.HasSuffix(line, []byte(`"}`)) {
		return nil, ""
	}
	return line[1:mark], string(line[mark+len(sealMark) : mark+len(sealMark)+sealLength])
}

// errSeal is the error for a line whose checksum does not match.
var errSeal = errors.New("its checksum does not match: a line was damaged, changed, moved or removed, or the file belongs to another run")

var errNoSeal = errors.New("it has no checksum")

// binding lists the texts that the first line of a run's files may be chained to. The first is the hash of
// the current experiment. If the hash in the checkpoint differs, because the run was extended since, that
// hash follows. The last is "" if the checkpoint has a version before boundFormat.
type binding []string

// bindingOf returns the binding of an experiment's files. checkpoint is the position of the run's
// checkpoint, or zero if there is none.
func bindingOf(e Experiment, checkpoint position) binding {
	b := binding{e.Hash()}
	if checkpoint.Experiment != "" && checkpoint.Experiment != b[0] {
		b = append(b, checkpoint.Experiment)
	}
	if checkpoint.Format < boundFormat {
		b = append(b, "")
	}
	return b
}

// to returns the texts that the first line of the named file may be chained to. New files use the first
// text.
func (b binding) to(name string) []string {
	all := slices.Clone(b)
	for i, hash := range b {
		if hash != "" {
			all[i] = hash + " " + name
		}
	}
	return all
}

// longestLine limits the length in bytes of a line of metrics or of sessions.
const longestLine = 1 << 20

// eachLine verifies the checksums of lines, at most the given number, and calls each with every line and
// its fields. The first line must be chained to one of the texts in from. If a line has no checksum, fields
// is nil; that is allowed only if from contains an empty text and the previous line has no checksum either.
// eachLine ignores a last line that a crash cut short. The slices are valid until the next call.
func eachLine(lines iter.Seq2[[]byte, error], most int, from []string, each func(line, fields []byte) error) error {
	before, n := "", 0 // checksum and number of the previous line
	bad := func(err error) error { return fmt.Errorf("line %d: %w", n+1, err) }
	valid := func(fields []byte, seal string) bool {
		if n > 0 {
			return chain(before, fields) == seal
		}
		return slices.ContainsFunc(from, func(start string) bool { return chain(start, fields) == seal })
	}
	for line, err := range lines {
		if n == most {
			break
		}
		if err != nil {
			return err
		}
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole {
			// A crash leaves the beginning of a line, never a whole line followed by something
			// else.
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

// marshalSealed returns an object as a line with a checksum that is chained to the text start.
func marshalSealed(object any, start string) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	line, _ := sealLine(text[1:len(text)-1], start)
	return line, nil
}

// unmarshalSealed reads an object that marshalSealed wrote with one of the texts in from. The line may lack its checksum
// if unsealed is true.
func unmarshalSealed(b []byte, object any, unsealed bool, from ...string) error {
	fields, seal := unseal(bytes.TrimSuffix(b, []byte("\n")))
	switch {
	case seal != "" && !slices.ContainsFunc(from, func(start string) bool { return chain(start, fields) == seal }):
		return errSeal
	case seal != "":
		return json.Unmarshal(b, object)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // for example a checksum whose key is damaged
	if err := d.Decode(object); err != nil || unsealed {
		return err
	}
	return errNoSeal
}

// textSeal begins the last line of an experiment file in a run's directory; the checksum follows.
const textSeal = "# checksum: "

// sealText appends the checksum line to a TOML text.
func sealText(text []byte) []byte {
	return fmt.Appendf(bytes.Clone(text), "%s%x\n", textSeal, sha256.Sum256(text))
}

// verifyText returns an error if the checksum of a text does not match, and reports whether the text has
// a checksum.
func verifyText(text []byte) (sealed bool, err error) {
	newline := bytes.LastIndex(text, []byte("\n"+textSeal))
	if newline < 0 {
		return false, nil
	}
	if !bytes.Equal(sealText(text[:newline+1]), text) {
		return true, errors.New("its checksum does not match: the file was damaged or changed")
	}
	return true, nil
}

// note is a message about files of earlier versions that is printed once.
type note struct {
	sync.Once
	to io.Writer
}

var unsealed, unbound = &note{to: os.Stderr}, &note{to: os.Stderr}

func noteUnsealed(path string) {
	unsealed.Do(func() {
		fmt.Fprintf(unsealed.to, "%s has no checksum, because an earlier version wrote it: damage might go unnoticed (shown once)\n", path)
	})
}

// noteUnbound warns that the other files of a checkpoint's run are not bound to the run.
func noteUnbound(path string) {
	unbound.Do(func() {
		fmt.Fprintf(unbound.to, "%s is from an earlier version, whose metrics are not bound to their run: swapped files of two runs might go unnoticed (shown once)\n", path)
	})
}
