package deterministic

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// These are the names under which runs record the exact log p(x) of their rows.
const (
	exactTrain      = "exact_train"
	exactValidation = "exact_validation"
)

// observe measures the mean log p(x), in nats, of the training and of the validation rows after the
// epochs that LogPEvery selects.
func observe(ctx context.Context, e Experiment, m *Machine, set *dataset.Set, epoch int) (map[string]runs.Measures, error) {
	if every := e.Settings.LogPEvery; every == 0 || epoch%every != 0 {
		return nil, nil
	}
	measured := map[string]runs.Measures{}
	for name, rows := range map[string]dataset.Split{exactTrain: set.Train(), exactValidation: set.Validation()} {
		if rows.Rows == 0 {
			continue
		}
		data := make([][]float64, rows.Rows)
		for i := range data {
			data[i] = Binary(rows.Row(i))
		}
		logP, err := m.LogP(ctx, data)
		if err != nil {
			return nil, err
		}
		floats.Mul(logP, rows.Shares())
		measured[name] = runs.Measures{runs.LogP.Key: floats.Sum(logP) / float64(rows.Rows)}
	}
	return measured, nil
}

// LogPHistory returns the exact log p(x), in nats, recorded in the history of a run whose
// experiment measures it. The result has only the epochs with a measurement, and log p(x) in place
// of the free energy.
func LogPHistory(h runs.History) runs.History {
	exact := runs.History{Name: h.Name, Measures: []runs.Measure{runs.LogP}}
	if b := h.Baseline; b != nil {
		exact.Baseline = new(negated(*b))
	}
	for _, e := range h.Epochs {
		if train, ok := e.Measured[exactTrain]; ok {
			e.Train, e.Validation, e.Measured = train, e.Measured[exactValidation], nil
			exact.Epochs = append(exact.Epochs, e)
		}
	}
	return exact
}
