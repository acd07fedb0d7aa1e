package runs

// A Recorder receives the progress of training. Training calls its methods one at a time and waits for
// them, so they should return quickly. When several seeds are trained, a Recorder receives one run after
// the other. It may have further methods:
//
//	CheckpointWanted() bool // called after each step, or after several that an engine takes together: asks for a checkpoint
//	Wait(*TakenError)       // called once before a wait for a program on another machine that holds the directory and may have stopped
//	JobEnded()              // called after End in a sweep, once the directory is unlocked and a failure is recorded
type Recorder interface {
	// Begin is called once per run, before its first step.
	Begin(Plan)
	// Step is called once per step. If the engine takes several steps together, the calls come after
	// the last of these steps.
	Step(Progress)
	// Epoch is called after each epoch.
	Epoch(Epoch)
	// End is called once per run, with the error that ended training, or nil if training has
	// finished.
	End(error)
}

// Plan describes the training that is about to begin.
type Plan struct {
	Dir           string // directory of the run
	Name          string // experiment and seed
	Epochs        int
	StepsPerEpoch int
	Start         int     // steps already done, if training resumes or Late is true
	Late          bool    // whether the report begins after the training, which waited for the reports of parallel runs
	Notice        string  // remark about the training rows, or "" (see dataset.Set.Notice)
	History       History // epochs already done, descriptions of the measures, and the baseline
}

// Progress is the state of training after a step.
type Progress struct {
	Epoch        int // current epoch, counted from 1
	Step         int // steps since the start of training
	LearningRate float64
	Measures     Measures // means over the epoch's minibatches so far
}
