package runs

import "slices"

// Epoch is what training recorded of one epoch.
type Epoch struct {
	Epoch        int     // 1 is the first
	Step         int     // steps since the start of training
	Seconds      float64 // wall-clock time that the steps of training have taken, evaluation and checkpoints not
	LearningRate float64
	Train        Measures // mean over the epoch's minibatches
	Validation   Measures // after the epoch, on the rows held out; nil where there are none
	// Measured is what the experiment asked to be measured after the epoch, by
	// name, of letters, digits, _ and -; nil where it asked for nothing.
	Measured map[string]Measures
	// Norms are those of the layers after the epoch, and of the gradients of its
	// last minibatch; nil where they were not recorded.
	Norms Norms
}

// Norms are Euclidean norms of the layers of a model's networks, by name of the
// network, from the data upwards.
type Norms map[string][]LayerNorms

// LayerNorms are those of one layer, biases left out.
type LayerNorms struct {
	Weights   float64 `json:"weights"`   // after the step
	Gradient  float64 `json:"gradient"`  // of the step, before a metric
	Direction float64 `json:"direction"` // what the optimiser was given
}

// History is the record of one run of training.
type History struct {
	Name string // names the run in a legend
	// Measures are those of the epochs, the objective first; none stand for the
	// log-likelihood.
	Measures []Measure
	Epochs   []Epoch
	// Err says why there are no epochs where training recorded some: their file is
	// damaged.
	Err error
	// Baseline is that of the objective, nil where it is not known.
	Baseline *Baseline
}

// String is the history's table as people read it, without norms.
func (h History) String() string {
	if h.Err != nil {
		return h.Err.Error()
	}
	return h.WithoutNorms().Table().String()
}

// WithoutNorms returns the history without the norms of layers.
func (h History) WithoutNorms() History {
	h.Epochs = slices.Clone(h.Epochs)
	for i := range h.Epochs {
		h.Epochs[i].Norms = nil
	}
	return h
}

// Objective is the measure that training improves.
func (h History) Objective() Measure {
	if len(h.Measures) > 0 {
		return h.Measures[0]
	}
	return LogP
}

// LogP is the log-likelihood log p(x), the objective of most families.
var LogP = Measure{Key: "log_p", Name: "log p", Label: "log p(x)", Unit: "nats", Rises: true}
