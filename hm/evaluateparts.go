package hm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// samplesAPart is the largest total number of samples in a part, unless one row has more. It is small
// enough that a stopped program loses little work, and large enough that evaluating a part takes longer
// than storing it.
const samplesAPart = 1 << 22

func rowsAPart(samples int) int { return max(1, samplesAPart/max(1, samples)) }

// evaluateParts evaluates a split like Evaluate, but in parts of a number of rows. It stores the results of each part
// in the directory dir. Several programs, on one or more computers, can evaluate the same split in dir: share divides
// the parts among them. A stopped program resumes at the next unfinished part. Once all parts are finished,
// evaluateParts returns the result of Evaluate, bit for bit on processors of the same kind, with Seconds for this call
// only. Until then, it returns a runs.UnfinishedError. progress, which may be nil, is called with the finished fraction
// of the share's parts that were unfinished at the start.
func (m *Model) evaluateParts(ctx context.Context, split dataset.Split, samples, rows int, dir string, share runs.Shard, progress func(float64)) (Evaluation, error) {
	data, err := m.data(split, samples)
	if err != nil {
		return Evaluation{}, err
	}
	parts := runs.Parts{Dir: dir, Count: (data.Rows + rows - 1) / rows, Work: m.workOn(split, samples, rows)}
	start := time.Now()
	done, err := parts.Do(ctx, share, func(i int) ([]runs.Tensor, error) {
		return m.evaluatePart(ctx, data, i*rows, min(rows, data.Rows-i*rows), samples)
	}, progress)
	if err != nil {
		return Evaluation{}, err
	}
	return mergeParts(done, dir, split, samples, time.Since(start).Seconds())
}

// workOn returns a text that identifies an evaluation: the model, the rows, the number of samples and the seed.
func (m *Model) workOn(split dataset.Split, samples, rowsAPart int) string {
	values := sha256.New()
	_, _ = split.WriteTo(values) // which returns no error
	_ = binary.Write(values, binary.LittleEndian, split.Missing)
	text, err := json.Marshal(struct {
		Experiment, Parameters, Split, Values string
		Rows, RowsAPart, Samples              int
		Seed                                  uint64
		Estimates                             int // of a row
	}{m.experiment.Hash(), checksum(m.parameters), split.Name, fmt.Sprintf("%x", values.Sum(nil)), split.Rows, rowsAPart, samples, m.seed, len(estimated)})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return string(text)
}

// estimated lists the fields of a Likelihood with the names of the tensors that store them in a part.
var estimated = []struct {
	name  string
	value func(*engine.Likelihood) *float64
}{
	{"log_p", func(l *engine.Likelihood) *float64 { return &l.LogP }},
	{"bound", func(l *engine.Likelihood) *float64 { return &l.Bound }},
	{"log_p_tilde_star", func(l *engine.Likelihood) *float64 { return &l.LogPTildeStar }},
	{"ess", func(l *engine.Likelihood) *float64 { return &l.ESS }},
	{"ess_star", func(l *engine.Likelihood) *float64 { return &l.ESSStar }},
	{"log_p_of_half", func(l *engine.Likelihood) *float64 { return &l.LogPOfHalf }},
	{"log_p_tilde_star_of_half", func(l *engine.Likelihood) *float64 { return &l.LogPTildeStarOfHalf }},
}

// evaluatePart evaluates the given number of rows from row first on, with the draws of a whole evaluation.
func (m *Model) evaluatePart(ctx context.Context, data engine.Data, first, rows, samples int) ([]runs.Tensor, error) {
	model, err := m.engine.model()
	if err != nil {
		return nil, err
	}
	likelihoods, err := model.Evaluate(ctx, data.Part(first, rows), samples, m.seed, nil)
	if err != nil {
		return nil, err
	}
	var tensors []runs.Tensor
	for _, number := range estimated {
		values := make([]float64, rows)
		for r := range likelihoods {
			values[r] = *number.value(&likelihoods[r])
		}
		tensors = append(tensors, runs.Tensor{Name: number.name, Shape: []int{rows}, Wide: values})
	}
	return tensors, nil
}

func mergeParts(parts [][]runs.Tensor, dir string, split dataset.Split, samples int, seconds float64) (Evaluation, error) {
	var likelihoods []engine.Likelihood
	for i, tensors := range parts {
		values := map[string][]float64{}
		for _, t := range tensors {
			values[t.Name] = t.Wide
		}
		part := make([]engine.Likelihood, len(values[estimated[0].name]))
		for _, number := range estimated {
			if len(values[number.name]) != len(part) {
				return Evaluation{}, fmt.Errorf("part %d in %s has %d values of %s for %d rows: remove it and repeat the command, which evaluates it again", i, dir, len(values[number.name]), number.name, len(part))
			}
			for r, value := range values[number.name] {
				*number.value(&part[r]) = value
			}
		}
		likelihoods = append(likelihoods, part...)
	}
	if len(likelihoods) != split.Rows {
		return Evaluation{}, fmt.Errorf("the parts in %s have %d of %d rows: choose another directory", dir, len(likelihoods), split.Rows)
	}
	return evaluationOf(likelihoods, split, samples, seconds), nil
}
