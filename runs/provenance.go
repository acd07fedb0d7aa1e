package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/klauspost/cpuid/v2"
)

// Provenance records where a training session ran and with which program. A resumed run has several
// sessions.
type Provenance struct {
	Date           time.Time `json:"date"` // start of the session
	Step           int       `json:"step"` // steps done before the session
	Version        string    `json:"version"`
	Go             string    `json:"go"`
	Host           string    `json:"host"`
	Platform       string    `json:"platform"` // operating system and architecture
	Processor      string    `json:"processor"`
	Threads        int       `json:"threads"`
	InstructionSet string    `json:"instruction_set"` // avx512, avx2, neon or portable
	Backend        string    `json:"backend,omitempty"`
	Device         string    `json:"device,omitempty"`
	Fingerprint    string    `json:"fingerprint"` // SHA-256 of the data
	Baseline       *Baseline `json:"baseline,omitempty"`
}

func (p Provenance) onProcessor() bool { return p.Backend == "" || p.Backend == "cpu" }

// Hardware names the GPU that trained, or the processor and its instruction set.
func (p Provenance) Hardware() string {
	if !p.onProcessor() {
		return p.Device
	}
	return strings.TrimSpace(p.Processor) + ", " + p.InstructionSet
}

// Version returns the module's version and, if it is known, the commit that the program was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			text += ", commit " + s.Value[:12]
		}
	}
	return text
}

func provenance(l Learner, fingerprint string, step int, b *Baseline) Provenance {
	p := Provenance{
		Date: time.Now().UTC().Truncate(time.Second), Step: step, Version: Version(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Processor: cpuid.CPU.BrandName, Threads: runtime.GOMAXPROCS(0),
		InstructionSet: kernels.InstructionSet(), Fingerprint: fingerprint, Baseline: b,
	}
	p.Host, _ = os.Hostname() // empty if the host has no name
	if l, ok := l.(interface {
		Device() (backend, description string)
	}); ok {
		p.Backend, p.Device = l.Device()
	}
	return p
}

// appendProvenance appends the line of a session, and returns the number of sessions and what a change of the
// instruction set since the last session means, or "". It returns an error if the file has fewer sessions than the
// clock counted. It drops lines that earlier versions left incomplete after a crash.
func appendProvenance(dir *file.Held, c *clock, p Provenance, bound binding) (sessions int, notice string, err error) {
	path := dir.Path(sessionsFile)
	earlier, err := readSessions(path, c, bound)
	if err != nil {
		return 0, "", err
	}
	if len(earlier) > 0 {
		var last Provenance
		if err := json.Unmarshal(earlier[len(earlier)-1], &last); err != nil {
			return 0, "", err
		}
		notice = p.since(last)
	}
	text, err := sessionsText(earlier, p, bound.to(sessionsFile)[0])
	if err != nil {
		return 0, "", err
	}
	return len(earlier) + 1, notice, dir.WriteAside(sessionsFile, text)
}

// since returns a notice of kernels whose roundings differ from the last session's, or "".
func (p Provenance) since(last Provenance) string {
	if !p.onProcessor() || !last.onProcessor() || last.InstructionSet == p.InstructionSet || last.InstructionSet == "" {
		return ""
	}
	return fmt.Sprintf("trained with %s so far, with %s from here on: the last digits may differ from a run that stays, except in fixed point without a Fisher metric (docs/train.md#arithmetic)",
		last.InstructionSet, p.InstructionSet)
}

// sessionsText returns one line per session, including the new session p. The checksum of the first line
// is chained to seal.
func sessionsText(sessions [][]byte, p Provenance, seal string) ([]byte, error) {
	session, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, session := range append(sessions, session) {
		var line []byte
		line, seal = sealLine(session[1:len(session)-1], seal)
		text = append(text, line...)
	}
	return text, nil
}

// readSessions reads the sessions as JSON objects, without their checksums. It returns an error if fewer
// sessions have checksums than the clock counted.
func readSessions(path string, c *clock, bound binding) ([][]byte, error) {
	sessions, sealed, err := parseSessions(file.Lines(path, longestLine), bound.to(sessionsFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err == nil && c != nil && sealed < c.Sessions {
		err = fmt.Errorf("it has %d sessions with checksums, but there were %d", sealed, c.Sessions)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or remove it and %s beside it: they only record where, how long and with which program the run was trained, and its baseline",
			path, err, clockFile)
	}
	return sessions, nil
}

// parseSessions reads sessions, and returns how many have a checksum.
func parseSessions(lines iter.Seq2[[]byte, error], from []string) (sessions [][]byte, sealed int, err error) {
	err = eachLine(lines, math.MaxInt, from, func(line, fields []byte) error {
		switch {
		case fields != nil:
			line = fmt.Appendf(nil, "{%s}", fields)
			sealed++
		case !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &Provenance{}) != nil:
			return nil // earlier versions left incomplete lines after a crash
		default:
			line = bytes.TrimSpace(bytes.Clone(line))
		}
		sessions = append(sessions, line)
		return json.Unmarshal(line, &Provenance{})
	})
	return sessions, sealed, err
}

// Provenance returns the sessions in which the run was trained. It returns none for runs of versions that
// did not record sessions.
func (r *Run) Provenance() ([]Provenance, error) {
	clock, err := readClock(r.path(clockFile), r.position.Step, r.bound)
	if err != nil {
		return nil, err
	}
	sessions, err := readSessions(r.path(sessionsFile), clock, r.bound)
	if err != nil {
		return nil, err
	}
	all := make([]Provenance, len(sessions))
	for i, session := range sessions {
		err = errors.Join(err, json.Unmarshal(session, &all[i]))
	}
	return all, err
}
