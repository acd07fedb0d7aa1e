package rivals

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Classifier is a classifier of labels.
type Classifier struct {
	Key, Name string
	Wrong     []float64 // 1 for each labelled row that it mistakes, and 0 for each other labelled row
}

// Classify fits classifiers to the training rows that have a label, and classifies the other rows that have one: logistic regression
// with the penalty 1/n for n rows, like C = 1 of scikit-learn, and the nearest neighbour. Both stand on standardised units.
func Classify(train, rows dataset.Split, classes int) (all []Classifier, labeled []int, err error) {
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
	logistic, neighbour := Classifier{"logistic", "logistic regression", nil}, Classifier{"neighbour", "nearest neighbour", nil}
	mistaken := func(class int, r int) float64 {
		if class == int(rows.Labels[r]) {
			return 0
		}
		return 1
	}
	for i, r := range labeled {
		logistic.Wrong = append(logistic.Wrong, mistaken(floats.MaxIdx(scores.RawRowView(i)), r))
		nearest, least := 0, math.Inf(1)
		for k := range known {
			if d := floats.Distance(near.RawRowView(k), far.RawRowView(i), 2); d < least {
				nearest, least = k, d
			}
		}
		neighbour.Wrong = append(neighbour.Wrong, mistaken(int(of[nearest]), r))
	}
	return []Classifier{logistic, neighbour}, labeled, nil
}
