package runs

// A Recorder receives the progress of training. Its methods are called one at
// a time from the goroutine that trains, so they should return soon. Of training
// with several seeds it receives one run after the other.
type Recorder interface {
	// Begin is called once a run, before its first step.
	Begin(Plan)
	// Step is called for each step, after it or after the last of several that
	// the engine takes at once.
	Step(Progress)
	// Epoch is called after each epoch.
	Epoch(Epoch)
	// End is called once a run, with the error that ended training, nil when the
	// last epoch is done.
	End(error)
}

// Plan is what training sets out to do.
type Plan struct {
	Name          string // the experiment and the seed
	Epochs        int
	StepsPerEpoch int
	Start         int     // steps done before, when training resumes
	Notice        string  // what is odd about the training rows, "" if nothing is: see dataset.Set.Notice
	History       History // epochs done before, and what is measured
}

// Progress is the state of training after a step.
type Progress struct {
	Epoch        int // the epoch under way, 1 is the first
	Step         int // steps since the start of training
	LearningRate float64
	Measures     Measures // means over the epoch's minibatches so far
}

// A CheckpointRequester is a Recorder that can ask for a checkpoint. It is
// asked after each step, or after the several that an engine takes at once.
type CheckpointRequester interface {
	Recorder
	CheckpointWanted() bool
}

// A Waiter is a Recorder that is told what training waits for before it begins: a program on
// another machine, which may have stopped. It is told once.
type Waiter interface {
	Recorder
	Wait(*TakenError)
}
