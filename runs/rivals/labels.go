package rivals

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Classify fits classifiers to the training rows that have a label, and classifies the other rows that have one: logistic regression
// with the penalty 1/n for n rows, like C = 1 of scikit-learn, and the nearest neighbour. Both stand on standardised units. Their
// Values are 1 for each labelled row that they mistake, and 0 for each other labelled row.
func Classify(train, rows dataset.Split, classes int) (all []Rival, labeled []int, err error) {
	known, err := train.Labeled(classes)
	if err != nil {
		return nil, nil, err
	}
	if labeled, err = rows.Labeled(classes); err != nil {
		return nil, nil, err
	}
	if len(known) < 2 {
		return nil, nil, errors.New("only one training row has a label: label more")
	}
	inputs, of := train.Floats(known...), make([]uint8, len(known))
	for i, r := range known {
		of[i] = train.Labels[r]
	}
	fitted, err := FitLogistic(inputs, of, classes, 1/float64(len(known)))
	if err != nil {
		return nil, nil, err
	}
	others := rows.Floats(labeled...)
	scores, near, far := fitted.Scores(others), fitted.inputs(inputs), fitted.inputs(others)
	logistic, neighbour := Rival{Key: "logistic", Name: "logistic regression"}, Rival{Key: "neighbour", Name: "nearest neighbour"}
	mistaken := func(class int, r int) float64 {
		if class == int(rows.Labels[r]) {
			return 0
		}
		return 1
	}
	for i, r := range labeled {
		logistic.Values = append(logistic.Values, mistaken(floats.MaxIdx(scores.RawRowView(i)), r))
		nearest, least := 0, math.Inf(1)
		for k := range known {
			if d := floats.Distance(near.RawRowView(k), far.RawRowView(i), 2); d < least {
				nearest, least = k, d
			}
		}
		neighbour.Values = append(neighbour.Values, mistaken(int(of[nearest]), r))
	}
	return []Rival{logistic, neighbour}, labeled, nil
}
