package runs_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// onDevice is the family of mixtures that need a device, which another program may occupy.
const onDevice = "mixture on a device"

func init() {
	runs.Kind[needy, parameters]{
		Name: onDevice, Noun: "a mixture",
		Parse: func(text []byte) (needy, error) {
			m, err := parseMixture(text)
			return needy{m}, err
		},
		Model: func(n needy, s runs.Snapshot) (parameters, error) { return n.model(s) },
	}.Registered()
}

var (
	deviceTaken    atomic.Bool
	errDeviceTaken = errors.New("the device is taken")
)

type needy struct{ mixture }

func (n needy) WithHeader(h runs.Header) runs.Experiment {
	return needy{n.mixture.WithHeader(h).(mixture)}
}

func (n needy) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	if deviceTaken.Load() {
		return nil, &engine.DeviceError{Err: errDeviceTaken}
	}
	return n.mixture.Learner(set, at)
}

// An unavailable device is not blamed on the settings or the files of a run: a sweep ends, and
// resumes when the device is free; a checkpoint is not reported as damaged.
func TestDevicesAreNotBlamedOnRuns(t *testing.T) {
	deviceTaken.Store(true)
	s, dir := mustReadSweep(t, strings.Replace(sweepText, `"mixture"`, `"`+onDevice+`"`, 1)), t.TempDir()
	if err := trainSweep(t, s, dir); !errors.Is(err, errDeviceTaken) {
		t.Errorf("the sweep ends with %v, want %v", err, errDeviceTaken)
	}
	if report, err := s.Report(dir); err != nil || report.States()[runs.Failed] != 0 {
		t.Errorf("the runs are %v, %v", report.States(), err)
	}
	deviceTaken.Store(false)
	if err := trainSweep(t, s, dir); err != nil {
		t.Error(err)
	}

	set, run := overlapping(t), t.TempDir()
	e := needy{brief(set)}
	trainUntilEpoch(t, e, set, run, 2)
	deviceTaken.Store(true)
	if _, err := runs.Train(t.Context(), e, set, run); !errors.Is(err, errDeviceTaken) || strings.Contains(err.Error(), "restore") {
		t.Errorf("a run on a device that is taken goes on with %v", err)
	}
}
