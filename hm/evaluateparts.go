package hm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// samplesAPart is the number of samples of all rows of a part: few enough that little is
// lost where a program is stopped, and so many that a part takes longer than its keeping.
const samplesAPart = 1 << 22

// rowsAPart is the number of rows of a part that are evaluated with so many samples each.
func rowsAPart(samples int) int { return max(1, samplesAPart/max(1, samples)) }

// EvaluationParts is the number of parts in which EvaluateParts has so many rows.
func EvaluationParts(rows, samples int) int {
	return (rows + rowsAPart(samples) - 1) / rowsAPart(samples)
}

// EvaluateParts is Evaluate of a split in parts of some rows, which are kept in the
// directory dir. Programs that evaluate the same there, on one machine or on several,
// share the parts among themselves, each those of its share; one that is stopped goes
// on with the next part that is not done. Once all are, the evaluation is that of
// Evaluate, bit for bit where processors are of one kind, and Seconds those of this
// call; before, the error is a runs.UnfinishedError. progress is that of the parts of the
// share that were not done yet.
func (m *Model) EvaluateParts(ctx context.Context, split dataset.Split, samples int, dir string, share runs.Shard, progress func(float64)) (Evaluation, error) {
	return m.evaluateParts(ctx, split, samples, rowsAPart(samples), dir, share, progress)
}

// evaluateParts is EvaluateParts in parts of a number of rows.
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
	return mergeParts(done, dir, data.Rows, samples, time.Since(start).Seconds())
}

// workOn identifies an evaluation: the model, the rows and the samples.
func (m *Model) workOn(split dataset.Split, samples, rowsAPart int) string {
	text, err := json.Marshal(struct {
		Experiment, Parameters, Split, Values string
		Rows, RowsAPart, Samples              int
		Seed                                  uint64
	}{m.experiment.Hash(), checksum(m.parameters), split.Name, fmt.Sprintf("%x", sha256.Sum256(valuesOf(split))), split.Rows, rowsAPart, samples, m.seed})
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// valuesOf returns the bytes of the values of rows.
func valuesOf(split dataset.Split) []byte {
	bytes := split.Values
	for _, v := range split.Reals {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
	}
	return bytes
}

// estimated are the numbers of a Likelihood by the names of their tensors in a part.
var estimated = []struct {
	name string
	of   func(*engine.Likelihood) *float64
}{
	{"log_p", func(l *engine.Likelihood) *float64 { return &l.LogP }},
	{"bound", func(l *engine.Likelihood) *float64 { return &l.Bound }},
	{"log_p_tilde_star", func(l *engine.Likelihood) *float64 { return &l.LogPTildeStar }},
	{"ess", func(l *engine.Likelihood) *float64 { return &l.ESS }},
	{"ess_star", func(l *engine.Likelihood) *float64 { return &l.ESSStar }},
}

// evaluatePart evaluates rows from one on, with the draws that they have among all.
func (m *Model) evaluatePart(ctx context.Context, data engine.Data, from, rows, samples int) ([]runs.Tensor, error) {
	model, err := m.engine.model()
	if err != nil {
		return nil, err
	}
	likelihoods, err := model.Evaluate(ctx, data.Part(from, rows), samples, m.seed, nil)
	if err != nil {
		return nil, err
	}
	var tensors []runs.Tensor
	for _, number := range estimated {
		values := make([]float64, rows)
		for r := range likelihoods {
			values[r] = *number.of(&likelihoods[r])
		}
		tensors = append(tensors, runs.Tensor{Name: number.name, Shape: []int{rows}, Wide: values})
	}
	return tensors, nil
}

// mergeParts is the evaluation of a number of rows that all parts in a directory make.
func mergeParts(parts [][]runs.Tensor, dir string, rows, samples int, seconds float64) (Evaluation, error) {
	var likelihoods []engine.Likelihood
	for i, tensors := range parts {
		values := map[string][]float64{}
		for _, t := range tensors {
			values[t.Name] = t.Wide
		}
		part := make([]engine.Likelihood, len(values[estimated[0].name]))
		for _, number := range estimated {
			if len(values[number.name]) != len(part) {
				return Evaluation{}, fmt.Errorf("part %d in %s has %d values of %s for %d rows: remove it, and the same command makes it anew", i, dir, len(values[number.name]), number.name, len(part))
			}
			for r, value := range values[number.name] {
				*number.of(&part[r]) = value
			}
		}
		likelihoods = append(likelihoods, part...)
	}
	if len(likelihoods) != rows {
		return Evaluation{}, fmt.Errorf("the parts in %s have %d rows of %d: choose another directory", dir, len(likelihoods), rows)
	}
	return evaluationOf(likelihoods, samples, seconds), nil
}
