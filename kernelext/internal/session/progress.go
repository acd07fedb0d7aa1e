package session

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/hm"
)

// progress is the recorder that knows how far training has come, and that asks
// for checkpoints.
type progress struct {
	mu    sync.Mutex
	epoch int
	step  int
	logP  *float64
	// A checkpoint that is asked for is first wanted and then, once training
	// knows, being saved. Each channel is closed when it is saved and training
	// goes on, nil if there is none.
	wanted, saving chan struct{}
}

var _ hm.CheckpointRequester = (*progress)(nil)

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

// CheckpointWanted implements hm.CheckpointRequester.
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

// Begin implements hm.Recorder.
func (p *progress) Begin(plan hm.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = plan.Start
	if n := len(plan.History.Epochs); n > 0 {
		last := plan.History.Epochs[n-1]
		p.epoch, p.logP = last.Epoch, &last.Train.LogP
	}
}

// Step implements hm.Recorder.
func (p *progress) Step(at hm.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved()
	p.step, p.logP = at.Step, &at.Measures.LogP
}

// Epoch implements hm.Recorder.
func (p *progress) Epoch(e hm.Epoch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved()
	p.epoch = e.Epoch
}

// End implements hm.Recorder. Whether the last checkpoint was saved is for the
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
	i.Epoch, i.Step, i.LogP = p.epoch, p.step, p.logP
}
