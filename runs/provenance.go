package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/klauspost/cpuid/v2"
)

// Provenance is where and by what a session of training computed: a run that was
// resumed has several.
type Provenance struct {
	Date           time.Time `json:"date"` // when it began
	Step           int       `json:"step"` // steps done before
	Version        string    `json:"version"`
	Go             string    `json:"go"`
	Host           string    `json:"host"`
	Platform       string    `json:"platform"` // operating system and architecture
	Processor      string    `json:"processor"`
	Threads        int       `json:"threads"`
	InstructionSet string    `json:"instruction_set"` // avx512, avx2 or portable
	Backend        string    `json:"backend,omitempty"`
	Device         string    `json:"device,omitempty"`
	Fingerprint    string    `json:"fingerprint"` // SHA-256 of the data
}

// A DeviceLearner is a Learner that says what it computes on.
type DeviceLearner interface {
	Learner
	// Device returns the backend's name and a line on what it runs on.
	Device() (backend, description string)
}

// Version is the module's version, or the commit that the program was built
// from.
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

// provenance is that of a session that begins now.
func provenance(l Learner, fingerprint string, step int) Provenance {
	p := Provenance{
		Date: time.Now().UTC().Truncate(time.Second), Step: step, Version: Version(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Processor: cpuid.CPU.BrandName, Threads: runtime.GOMAXPROCS(0),
		InstructionSet: kernels.InstructionSet(), Fingerprint: fingerprint,
	}
	p.Host, _ = os.Hostname() // a host without a name has none
	if l, ok := l.(DeviceLearner); ok {
		p.Backend, p.Device = l.Device()
	}
	return p
}

// appendProvenance adds the line of a session.
func appendProvenance(path string, p Provenance) error {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	line, err := sessionLine(before, p)
	if err != nil {
		return err
	}
	return file.Append(path, line)
}

// sessionLine is the line of a session behind others.
func sessionLine(before []byte, p Provenance) ([]byte, error) {
	line, err := json.Marshal(p)
	if len(before) > 0 && before[len(before)-1] != '\n' {
		line = append([]byte("\n"), line...) // after a line that a crash cut short
	}
	return append(line, '\n'), err
}

// Provenance lists the sessions in which the run was trained; none where it is of
// a version that did not record them.
func (r *Run) Provenance() ([]Provenance, error) { return readProvenance(r.path(sessionsFile)) }

func readProvenance(path string) ([]Provenance, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseProvenance(b), nil
}

func parseProvenance(b []byte) (sessions []Provenance) {
	for line := range bytes.Lines(b) {
		var p Provenance
		if json.Unmarshal(line, &p) == nil { // not a line that a crash cut short
			sessions = append(sessions, p)
		}
	}
	return sessions
}
