package boltzmann

import (
	"fmt"
	"strconv"
	"strings"
)

// AnnealingSchedule determines the inverse temperatures β of annealing, from 0 for the base-rate model to 1
// for the model. The zero value is the published schedule.
type AnnealingSchedule struct {
	spacing spacing
	steps   int
}

type spacing int

const (
	published spacing = iota
	even
	adaptive
)

// stretch is a part of a schedule that ends at a β and has a number of equal steps.
type stretch struct {
	end   float64
	steps int
}

// Published returns the schedule of Salakhutdinov and Murray (2008) with 14,500 steps. Their length is
// 1/1,000 up to β = 0.5, 1/10,000 up to 0.9, and 1/100,000 up to 1.
func Published() AnnealingSchedule { return AnnealingSchedule{} }

// Even returns a schedule with a number of equal steps.
func Even(steps int) AnnealingSchedule { return AnnealingSchedule{even, steps} }

// Adaptive returns a schedule with a number of steps, placed so that each step spreads the weights of the
// chains about equally. So each step costs about the same part of the effective sample size. 100 pilot
// chains, which take a tenth of the steps, find the schedule.
func Adaptive(steps int) AnnealingSchedule { return AnnealingSchedule{adaptive, steps} }

// String returns published, even:N or adaptive:N, where N is the number of steps.
func (s AnnealingSchedule) String() string {
	switch s.spacing {
	case even:
		return fmt.Sprintf("even:%d", s.steps)
	case adaptive:
		return fmt.Sprintf("adaptive:%d", s.steps)
	}
	return "published"
}

func (s AnnealingSchedule) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *AnnealingSchedule) UnmarshalText(text []byte) error {
	kind, number, numbered := strings.Cut(string(text), ":")
	steps, err := strconv.Atoi(number)
	*s = AnnealingSchedule{steps: steps}
	switch {
	case kind == "published" && !numbered:
		*s = Published()
		return nil
	case kind == "even" && err == nil:
		s.spacing = even
	case kind == "adaptive" && err == nil:
		s.spacing = adaptive
	default:
		return fmt.Errorf("schedule %q: use published, even:N or adaptive:N, with a number N of steps, as in adaptive:1000", text)
	}
	return s.check()
}

// A hundred pilot chains, which take a tenth of the steps, find an adaptive schedule.
const (
	pilot          = 10
	pilotChains    = 100
	fewestAdaptive = 10 * pilot
	mostSteps      = 1_000_000
)

func (s AnnealingSchedule) check() error {
	fewest := 1
	if s.spacing == adaptive {
		fewest = fewestAdaptive
	}
	if s.spacing != published && (s.steps < fewest || s.steps > mostSteps) {
		return fmt.Errorf("schedule %v: give between %d and %d steps", s, fewest, mostSteps)
	}
	return nil
}

// temperatures returns the values of β, from 0 to 1, of a published or even schedule.
func (s AnnealingSchedule) temperatures() []float64 {
	stretches := []stretch{{0.5, 500}, {0.9, 4_000}, {1, 10_000}}
	if s.spacing == even {
		stretches = []stretch{{1, s.steps}}
	}
	betas := []float64{0}
	for _, to := range stretches {
		from := betas[len(betas)-1]
		for k := 1; k <= to.steps; k++ {
			betas = append(betas, from+(to.end-from)*float64(k)/float64(to.steps))
		}
	}
	return betas
}
