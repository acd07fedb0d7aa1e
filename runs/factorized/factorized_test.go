package factorized

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// split are rows of three units.
func split(rows ...[3]uint8) dataset.Split {
	var values []uint8
	for _, row := range rows {
		values = append(values, row[:]...)
	}
	return dataset.Split{Name: "train", Shape: dataset.Shape{Height: 1, Width: 3}, Values: dataset.Bytes(3, values)}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*math.Max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The smoothed means of 5 rows with 0, 2 and 5 of them on are 1/12, 5/12 and 11/12.
func TestBernoulliHasSmoothedMeans(t *testing.T) {
	m := bernoulli(split([3]uint8{0, 255, 255}, [3]uint8{0, 255, 255}, [3]uint8{0, 0, 255}, [3]uint8{0, 0, 255}, [3]uint8{0, 0, 255}))
	logP := m.logP(split([3]uint8{0, 255, 255}))
	near(t, "log p of a usual row", logP.Value, math.Log(11./12*5./12*11./12))
	if !math.IsNaN(logP.SE) {
		t.Errorf("the standard error of one row is %v", logP.SE)
	}
	near(t, "log p of a row such as never was", m.logP(split([3]uint8{255, 0, 0})).Value, math.Log(1./12*7./12*1./12))
}

// Of 5 rows 1, 0 and 4 have one of three categories: their smoothed probabilities are 3/13,
// 1/13 and 9/13. Units that have seen no data have 1/3.
func TestCategoricalHasSmoothedFrequencies(t *testing.T) {
	a, b, c := [3]uint8{255, 0, 0}, [3]uint8{0, 255, 0}, [3]uint8{0, 0, 255}
	baseline := Categorical(split(a, c, c, c, c), split(a, b), []Variable{{Units: 3}})
	near(t, "mean log p", baseline.Factorized.Value, math.Log(3./13*1./13)/2)
	near(t, "the limit", baseline.Limit, baseline.Factorized.Value-2*math.Log(3))
}

// A unit alone with a rest is a Bernoulli unit, and a variable without any unit on is in its rest: 1
// of 5 rows, of which none has the second category and 4 have the first.
func TestCategoricalWithRest(t *testing.T) {
	a, none := [3]uint8{255, 0, 0}, [3]uint8{0, 0, 255}
	train := split(a, a, a, a, none)
	units := []Variable{{Units: 1, Rest: true}, {Units: 1, Rest: true}, {Units: 1, Rest: true}}
	near(t, "log p of Bernoulli units", Categorical(train, split(a, none), units).Factorized.Value, Bernoulli(train, split(a, none)).Factorized.Value)
	near(t, "mean log p", Categorical(train, split(a, none), []Variable{{Units: 2, Rest: true}, {Units: 1, Rest: true}}).Factorized.Value, math.Log(9./13*9./12*3./13*3./12)/2)
}

// Real numbers beside a categorical variable are Gaussian: the baseline is the sum of both.
func TestCategoricalBesideRealNumbers(t *testing.T) {
	rows := dataset.Split{Name: "train", Shape: dataset.Shape{Height: 1, Width: 3}, Values: dataset.Reals(3, []float32{1, 0, 2.5, 0, 1, -1, 1, 0, 4, 1, 0, 0})}
	baseline := Categorical(rows, rows, []Variable{{Units: 2}, {Units: 1, Real: true}})
	categories := (3*math.Log(3.5/5) + math.Log(1.5/5)) / 4
	const mean, variance = 5.5 / 4, (2.5*2.5+1+16)/4 - 5.5*5.5/16
	near(t, "mean log p", baseline.Factorized.Value, categories-(math.Log(2*math.Pi*variance)+1)/2)
	near(t, "the limit", baseline.Limit, baseline.Factorized.Value-2*math.Log(2)-9*(math.Log(2*math.Pi)+1)/2)
}

// Over all rows of three units the model is a distribution.
func TestProbabilitiesSumToOne(t *testing.T) {
	m, sum := bernoulli(split([3]uint8{0, 255, 255}, [3]uint8{0, 80, 255})), 0.0
	for state := range 8 {
		sum += math.Exp(m.logP(split([3]uint8{255 * uint8(state&1), 255 * uint8(state>>1&1), 255 * uint8(state>>2)})).Value)
	}
	near(t, "the sum of p", sum, 1)
}

// log p of values between 0 and 1 is the mean of that of all rows that can be drawn
// from them.
func TestGrayValuesAreExpectations(t *testing.T) {
	gray := [3]uint8{51, 102, 255} // 0.2, 0.4 and 1
	m := bernoulli(split(gray, [3]uint8{255, 0, 0}))
	want := 0.0
	for state := range 8 {
		row, p := [3]uint8{}, 1.0
		for i := range row {
			on := state >> i & 1
			row[i] = 255 * uint8(on)
			p *= math.Abs(float64(1-on) - float64(gray[i])/255)
		}
		want += p * m.logP(split(row)).Value
	}
	got := m.logP(split(gray)).Value
	near(t, "log p of grey values", got, want)
}

// The mean over the 18 test rows of 3by3, which are its distribution, and its error
// are those of the sums over units, row by row. Each cell is on in half of them, so
// that all rows are as likely.
func TestLogPOfThreeByThree(t *testing.T) {
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	logP := bernoulli(set.Test()).logP(set.Test())
	near(t, "log p", logP.Value, -9*math.Ln2)
	near(t, "its error", logP.SE, 0)

	train := set.Train()
	train.Values = train.Part(0, 7) // of these, means are not all the same
	rows := set.Test()
	var on [9]float64
	for r := range train.Rows {
		for i, v := range train.Row(r) {
			on[i] += float64(v) / 255
		}
	}
	want, wantSE := statistics.MeanAndError(rows.Rows, func(r int) float64 {
		sum := 0.0
		for i, v := range rows.Row(r) {
			p := (on[i] + 0.5) / 8
			if v == 0 {
				p = 1 - p
			}
			sum += math.Log(p)
		}
		return sum
	})
	logP = bernoulli(train).logP(rows)
	near(t, "log p", logP.Value, want)
	near(t, "its error", logP.SE, wantSE)
}

// A unit of Gaussian data has its mean and its standard deviation, but for the floor
// where it is always the same.
func TestGaussian(t *testing.T) {
	rows := split([3]uint8{0, 51, 204}, [3]uint8{102, 51, 0}, [3]uint8{204, 51, 51})
	density := func(x, mean, deviation float64) float64 {
		return -math.Pow((x-mean)/deviation, 2)/2 - math.Log(math.Sqrt(2*math.Pi)*deviation)
	}
	logP := gaussian(rows, 0.01, true).logP(split([3]uint8{255, 51, 102})).Value
	first, third := math.Sqrt(0.16*2/3), math.Sqrt((0.64+0.04)/3-1./9) // about the means 0.4 and 1/3
	near(t, "log p", logP, density(1, 0.4, first)+density(0.2, 0.2, 0.01)+density(0.4, 1./3, third))

	// Over its own rows it is −½ ln 2πeσ² a unit.
	logP = gaussian(rows, 0.01, true).logP(rows).Value
	near(t, "log p of its rows", logP, -math.Log(2*math.Pi*math.E*first*third)-math.Log(math.Sqrt(2*math.Pi)*0.01))

	logP = normal(3).logP(split([3]uint8{255, 51, 0})).Value
	near(t, "log p of standard normal units", logP, density(1, 0, 1)+density(0.2, 0, 1)+density(0, 0, 1))
}

// The limit is some times what coins or standard normal units come to, or as far
// below the model where few rows have made it the worse of the two.
func TestBaselines(t *testing.T) {
	train, other := split([3]uint8{0, 255, 255}, [3]uint8{0, 0, 255}), split([3]uint8{255, 51, 0})
	coins := -3 * math.Ln2
	normals := func(rows dataset.Split) float64 {
		return normal(3).logP(rows).Value
	}
	for name, test := range map[string]struct {
		baseline   runs.Baseline
		rows       dataset.Split
		model      model
		blind, far float64
		surprised  bool
	}{
		"bernoulli":            {Bernoulli(train, train), train, bernoulli(train), coins, 3, false},
		"bernoulli, surprised": {Bernoulli(train, other), other, bernoulli(train), coins, 3, true},
		"gaussian":             {Gaussian(train, train, 0.01, true), train, gaussian(train, 0.01, true), normals(train), 10, false},
		"gaussian, surprised":  {Gaussian(train, other, 0.01, true), other, gaussian(train, 0.01, true), normals(other), 10, true},
	} {
		logP := test.model.logP(test.rows).Value
		near(t, name, test.baseline.Factorized.Value, logP)
		limit := test.far * test.blind
		if test.surprised {
			limit = logP + (test.far-1)*test.blind
		}
		near(t, "the limit of "+name, test.baseline.Limit, limit)
	}
}

// Real numbers on another scale have another density, of the same surprise: log p(ax+b) = log p(x) − D ln a,
// however far from 0 they lie, and the limit moves with it.
func TestRealNumbersHaveNoScale(t *testing.T) {
	reals := func(a, b float64) dataset.Split {
		var all []float32
		for _, x := range []float64{1, -2, 0.5, 7, 4, 3} {
			all = append(all, float32(a*x+b))
		}
		return dataset.Split{Name: "train", Shape: dataset.Shape{Height: 1, Width: 2}, Values: dataset.Reals(2, all)}
	}
	plain := Gaussian(reals(1, 0), reals(1, 0), 0.05, true)
	for _, c := range [][2]float64{{1. / 1024, 0}, {256, 1 << 14}} {
		scaled := Gaussian(reals(c[0], c[1]), reals(c[0], c[1]), 0.05, true)
		if shift := -2 * math.Log(c[0]); math.Abs(scaled.Factorized.Value-plain.Factorized.Value-shift) > 1e-6 || math.Abs(scaled.Limit-plain.Limit-shift) > 1e-6 {
			t.Errorf("times %v: log p %v and the limit %v, want %v more than %v and %v", c[0], scaled.Factorized.Value, scaled.Limit, shift, plain.Factorized.Value, plain.Limit)
		}
	}
}

// A row of the weight 2 counts like two rows in all baselines, and the scale of weights that are not whole does not count.
func TestWeightsCountRows(t *testing.T) {
	a, b, c := [3]uint8{255, 0, 255}, [3]uint8{0, 255, 255}, [3]uint8{51, 102, 0}
	weighted, repeated := split(a, b, c), split(a, b, b)
	weighted.Weights = []float64{1, 2, 0}
	scaled := weighted
	scaled.Weights = []float64{0.25, 0.5, 0}
	for name, of := range map[string]func(train, rows dataset.Split) runs.Baseline{
		"Bernoulli": Bernoulli,
		"categorical": func(train, rows dataset.Split) runs.Baseline {
			return Categorical(train, rows, []Variable{{Units: 2}, {Units: 1, Rest: true}})
		},
		"Gaussian": func(train, rows dataset.Split) runs.Baseline { return Gaussian(train, rows, 0.01, true) },
	} {
		near(t, name, of(weighted, weighted).Factorized.Value, of(repeated, repeated).Factorized.Value)
		if name == "Gaussian" {
			near(t, "scaled", of(scaled, scaled).Factorized.Value, of(repeated, repeated).Factorized.Value)
		}
	}
}
