package hm

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// ImportanceWeights holds the importance weights of samples of the recognition network, pooled over
// data.
type ImportanceWeights struct {
	Samples int // K, samples per row
	Data    int // number of data
	// LogWeights holds ln ω − ln mean ω in nats, where ω = p(x,h)/q(h|x) and the mean is over the K
	// samples of a row. It has Data × Samples values; the values of a row are next to each other.
	LogWeights []float64
	// LogWeightsStar holds the same for p*(h|x), with ω = √(p(x,h)/q(h|x)).
	LogWeightsStar []float64
	// ESS and ESSStar are the effective sample sizes of each row, as fractions of K.
	ESS, ESSStar []float64
}

// DreamWeights holds the importance weights of dreams x,h ~ p as proposals for p*(x,h).
type DreamWeights struct {
	Inner int // number of samples h' ~ q(h'|x) per dream, from which √p̃*(x) is estimated
	// LogWeights holds ln ω − ln mean ω of each dream in nats, where ω = √(p̃*(x) q(h|x)/p(x,h)).
	LogWeights []float64
	// ESS is the effective sample size, a fraction of the dreams. With J inner samples and many
	// dreams it tends to Z⁴/(1/J + (1−1/J) Z²), and so to Z² as J grows: the square of Z measures
	// how far p is from p*.
	ESS float64
}

// LogZ2 is the estimate of log Z² as its samples accumulate (BiHM thesis 2016, 3.11).
type LogZ2 struct {
	Inner   int         // number of inner samples h' ~ q(h'|x) per outer sample
	Outer   []int       // numbers of outer samples x,h ~ p at which the estimate was recorded
	Repeats [][]float64 // for each independent repeat, log Z² after Outer[i] samples, in nats
	Value   float64     // estimate from all samples of all repeats
	SE      float64     // its standard error
	// Size describes the dreams. If few are effective, Value is a lower bound in expectation, and SE means nothing.
	Size runs.SampleSize
}

// String returns log Z², its standard error unless few samples are effective, and the numbers of samples.
func (z LogZ2) String() string {
	text := fmt.Sprintf("log Z² %.4f ± %.4f nats", runs.Float(z.Value), runs.Float(z.SE))
	if z.Size.Few() {
		text = fmt.Sprintf("log Z² %.4f nats", runs.Float(z.Value))
	}
	text += runs.Clause(z.Size.String())
	if n := len(z.Outer); n > 0 {
		text += fmt.Sprintf(", %s of %s with %s each", names.Count(len(z.Repeats), "repeat"), names.Count(z.Outer[n-1], "outer sample"), names.Count(z.Inner, "inner sample"))
	}
	return text
}

// Convergence holds estimates of log-likelihoods for several numbers of importance samples. The i-th
// value of each slice belongs to Samples[i]: a mean over the data, or its standard error, in nats.
type Convergence struct {
	Name    string
	Samples []int // K, samples per row

	LogP, LogPSE                   []float64 // estimates of log p(x)
	LogPTildeStar, LogPTildeStarSE []float64 // estimates of log p̃*(x) = log Z² + log p*(x)
	LogPStar, LogPStarSE           []float64 // estimates of log p*(x), which are not bounds; nil before WithLogZ2
}
