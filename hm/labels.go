package hm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// LabelLayer selects where a machine has the label in semi-supervised learning (BiHM thesis 2016,
// ch. 4).
type LabelLayer int

const (
	// NoLabels selects a machine without a label.
	NoLabels LabelLayer = iota
	// TopLabels makes the label a softmax layer above the others, with a learned prior: p(y)
	// p(hᴹ|y) … p(x|h¹) and q(h¹|x) … q(y|hᴹ) (BiHM thesis 2016, 4.2).
	TopLabels
	// LowerLabels makes the label a softmax classifier q(y|x,h¹) that belongs to both networks
	// (BiHM thesis 2016, 4.6). It uses h¹, which knows more about the image than the layers above.
	LowerLabels
	// HiddenLabels makes the label a softmax classifier q(y|h¹) that belongs to both networks. It
	// is LowerLabels without the weights of the pixels: a few labels cannot train that many weights.
	HiddenLabels
)

var labelLayerNames = names.New("label layer", "none", "top", "lower", "hidden")

func (l LabelLayer) String() string                { return labelLayerNames.Name(int(l)) }
func (l LabelLayer) MarshalText() ([]byte, error)  { return labelLayerNames.Marshal(int(l)) }
func (l *LabelLayer) UnmarshalText(t []byte) error { return labelLayerNames.Parse((*int)(l), t) }

func (s MachineSpec) addLabels(a *engine.Architecture) {
	switch s.LabelLayer {
	case TopLabels:
		a.Units = append(a.Units, s.Classes)
		for len(a.Kinds) < len(a.Units)-1 {
			a.Kinds = append(a.Kinds, engine.Bernoulli)
		}
		a.Kinds = append(a.Kinds, engine.Categorical)
	case LowerLabels, HiddenLabels:
		a.Classes = s.Classes
		a.HiddenClassifier = s.LabelLayer == HiddenLabels
	}
}

// checkLabels returns an error if the labels do not suit the machine, the method and the data.
func (e Experiment) checkLabels(set *dataset.Set) error {
	m, s := e.Machine, e.Method
	if slices.Contains(m.Units, engine.Categorical) {
		return fmt.Errorf("units = %v: categorical units are the label (label_layer = top) or visible (groups); omit them, and use one of these settings", m.Units)
	}
	if m.LabelLayer == NoLabels {
		for _, setting := range []struct {
			name  string
			value any
			given bool
		}{
			{"classes", m.Classes, m.Classes != 0}, {"labels", e.Dataset.Labels, e.Dataset.Labels != 0}, {"gamma", s.Gamma, s.Gamma != 0},
			{"label_proposal", s.LabelProposal, s.LabelProposal != ExactLabels}, {"label_weight", s.LabelWeight, s.LabelWeight != 0},
		} {
			if setting.given {
				return fmt.Errorf("%s = %v for a machine without labels: add them with label_layer = top, lower or hidden, or omit the setting", setting.name, setting.value)
			}
		}
		return nil
	}
	switch {
	case m.Classes < 2 || m.Classes >= dataset.Unlabeled:
		return fmt.Errorf("label_layer = %v with classes = %d: use the number of classes, 10 for digits", m.LabelLayer, m.Classes)
	case set.Classes() == 0:
		return fmt.Errorf("label_layer = %v for %s, whose rows have no labels: use a set with labels, such as mnist, fashion or glyphs, or add labels to your own file with label_file", m.LabelLayer, set.Name())
	case e.Dataset.Labels == 0:
		return fmt.Errorf("label_layer = %v without labelled rows: set how many training rows keep their label, with labels = N or --labels N", m.LabelLayer)
	case s.Phases != Bidirectional || s.Metric != Euclidean:
		return fmt.Errorf("label_layer = %v with phases %v and metric %v: labels are defined for bidirectional machines in the Euclidean metric; use the method bihm", m.LabelLayer, s.Phases, s.Metric)
	case s.LabelProposal != ExactLabels && m.LabelLayer != TopLabels:
		return fmt.Errorf("label_proposal = %v with label_layer = %v: the classifier's labels need no proposal; use exact, or label_layer = top", s.LabelProposal, m.LabelLayer)
	case s.Entropy != 0 || s.EntropyEstimator != 0:
		return errors.New("an entropy regulariser with labels: the methods of BiHM thesis 2016, chapter 4 have none; omit it")
	}
	return set.CheckClasses(m.Classes)
}

var errUnlabeled = errors.New("the model has no labels: train a machine with Labels(TopLabels, 10) or --label-layer")

// Classification reports how well the label with the largest p*(y|x) matches the labels of data.
type Classification struct {
	Error   float64    `json:"error"` // fraction of rows whose likeliest label is wrong; a tie counts with the probability that a random choice is wrong
	ErrorSE runs.Float `json:"error_se"`
	LogP    float64    `json:"log_p"` // mean of log p*(y|x) over the rows, where y is the label of the row, in nats
	LogPSE  runs.Float `json:"log_p_se"`
	Samples int        `json:"samples"`
	Data    int        `json:"data"`
}

// LogLabelProbabilities estimates log p*(y|x) = log B(x,y) − log A(x) in nats, from samples h ~ q(h|x)
// (BiHM thesis 2016, 4.3; Method.Gamma defines A and B). The result holds a line for each row, with one
// value per class; the exponentials of a row sum to 1. The estimate does not need log Z².
func (m *Model) LogLabelProbabilities(ctx context.Context, split dataset.Split, samples int, progress func(float64)) ([][]float64, error) {
	data, err := m.completeData(split, samples)
	if err != nil {
		return nil, err
	}
	classes := m.parameters.Architecture.Labels()
	model, err := m.engine.model()
	if err != nil {
		return nil, err
	}
	classifier, ok := model.(engine.Classifier)
	if classes == 0 || !ok {
		return nil, errUnlabeled
	}
	logs, err := classifier.Classify(ctx, data, samples, m.seed, progress)
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, data.Rows)
	for r := range rows {
		rows[r] = logs[r*classes : (r+1)*classes]
	}
	return rows, nil
}

// Classify estimates p*(y|x) for each labelled row of a split, from the given number of samples, and compares
// the class with the largest value with the label of the row.
func (m *Model) Classify(ctx context.Context, split dataset.Split, samples int, progress func(float64)) (Classification, error) {
	classes := m.parameters.Architecture.Labels()
	if classes == 0 {
		return Classification{}, errUnlabeled
	}
	labeled, err := split.Labeled(classes)
	if err != nil {
		return Classification{}, err
	}
	logs, err := m.LogLabelProbabilities(ctx, split, samples, progress)
	if err != nil {
		return Classification{}, err
	}
	var wrong, own []float64
	for _, r := range labeled {
		wrong = append(wrong, statistics.Mistaken(logs[r], int(split.Labels[r])))
		own = append(own, math.Max(logs[r][split.Labels[r]], -math.MaxFloat64))
	}
	mistaken, logP := runs.EstimateOver(split, wrong, labeled...), runs.EstimateOver(split, own, labeled...)
	return Classification{
		Samples: samples, Data: len(labeled), Error: mistaken.Value, ErrorSE: runs.Float(mistaken.SE), LogP: logP.Value, LogPSE: runs.Float(logP.SE),
	}, nil
}
