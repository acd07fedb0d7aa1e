package session

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/runs"
)

// progress is the recorder that knows how far training has come, and that asks
// for checkpoints.
type progress struct {
	mu      sync.Mutex
	epoch   int
	step    int
	history runs.History // what is measured, and the baseline; no epochs
	value   *float64
	warning string // of the last epoch
	// A checkpoint that is asked for is first wanted and then, once training
	// knows, being saved. Each channel is closed when it is saved and training
	// goes on, nil if there is none.
	wanted, saving chan struct{}
}

var _ runs.CheckpointRequester = (*progress)(nil)

// checkpoint asks for a checkpoint and returns a channel that is closed when it
// is saved, unless training ends with it.
func (p *progress) checkpoint() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted == nil {
		p.wanted = make(chan struct{})
	}
	return p.wanted
}

// CheckpointWanted implements runs.CheckpointRequester.
func (p *progress) CheckpointWanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saving, p.wanted = p.wanted, nil
	return p.saving != nil
}

// saved notes that the checkpoint that was being saved is, which is so when
// training calls again. The caller holds the lock.
func (p *progress) saved() {
	if p.saving != nil {
		close(p.saving)
		p.saving = nil
	}
}

// Begin implements runs.Recorder.
func (p *progress) Begin(plan runs.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.history, p.warning = plan.Start, plan.History, plan.History.LastWarning()
	p.history.Epochs = nil
	if n := len(plan.History.Epochs); n > 0 {
		last := plan.History.Epochs[n-1]
		p.epoch, p.value = last.Epoch, valueOf(last.Train, p.history.Objective())
	}
}

// Step implements runs.Recorder.
func (p *progress) Step(at runs.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved()
	p.step, p.value = at.Step, valueOf(at.Measures, p.history.Objective())
}

// valueOf is the value of a measure, nil where there is none.
func valueOf(of runs.Measures, m runs.Measure) *float64 {
	value, measured := of[m.Key]
	if !measured {
		return nil
	}
	return &value
}

// Epoch implements runs.Recorder.
func (p *progress) Epoch(e runs.Epoch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved()
	p.epoch, p.warning = e.Epoch, p.history.Warning(e)
}

// End implements runs.Recorder. Whether the last checkpoint was saved is for the
// session to say.
func (p *progress) End(error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted, p.saving = nil, nil
}

// describe adds the progress to a description.
func (p *progress) describe(i *Info) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i.Epoch, i.Step, i.Value, i.Warning = p.epoch, p.step, p.value, p.warning
}
