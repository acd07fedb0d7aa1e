package session

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/runs"
)

// progress is a recorder that knows how far training has come and can ask for checkpoints.
type progress struct {
	mu      sync.Mutex
	epoch   int
	step    int
	history runs.History // the measures and the baseline, without epochs
	value   *float64
	warning string // for the last epoch
	// A requested checkpoint is first wanted. Once training has seen the request, the checkpoint
	// is being saved. Each channel is closed when the checkpoint is saved and training continues;
	// it is nil if there is no request.
	wanted, saving chan struct{}
}

var _ runs.Recorder = (*progress)(nil)

// checkpoint asks for a checkpoint and returns a channel that is closed once the checkpoint is
// saved. If training ends with the checkpoint, the channel stays open.
func (p *progress) checkpoint() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted == nil {
		p.wanted = make(chan struct{})
	}
	return p.wanted
}

// CheckpointWanted reports whether a checkpoint was requested. Training then saves it.
func (p *progress) CheckpointWanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saving, p.wanted = p.wanted, nil
	return p.saving != nil
}

// saved records that the checkpoint is saved, which is certain once training calls the recorder
// again. The caller holds the lock.
func (p *progress) saved() {
	if p.saving != nil {
		close(p.saving)
		p.saving = nil
	}
}

// Begin records the plan.
func (p *progress) Begin(plan runs.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.history, p.warning = plan.Start, plan.History, plan.History.LastWarning()
	p.history.Epochs = nil
	p.epoch, p.value = 0, nil
	if n := len(plan.History.Epochs); n > 0 {
		last := plan.History.Epochs[n-1]
		p.epoch, p.value = last.Epoch, valueOf(last.Train, p.history.Objective())
	}
}

// Step records the progress.
func (p *progress) Step(at runs.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved()
	p.step, p.value = at.Step, valueOf(at.Measures, p.history.Objective())
}

// valueOf returns the value of a measure, or nil if it was not measured.
func valueOf(of runs.Measures, m runs.Measure) *float64 {
	value, measured := of[m.Key]
	if !measured {
		return nil
	}
	return &value
}

// Epoch records the epoch and its warning.
func (p *progress) Epoch(e runs.Epoch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved()
	p.epoch, p.warning = e.Epoch, p.history.Warning(e)
}

// End forgets requests for checkpoints; the session reports whether the last checkpoint was saved.
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
