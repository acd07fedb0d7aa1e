// Package philox implements the counter-based random-number generator Philox 4×32-10 (Salmon,
// Moraes, Dror and Shaw 2011).
//
// A counter-based generator has no state: the draw of a unit is a function of the seed and of the
// unit's place in the computation. Therefore the same seed gives the same draws whatever the number
// of goroutines, the order of evaluation or the engine.
package philox

// Purpose separates the draws of different parts of the computation. It is the top byte of a
// counter's first word.
type Purpose uint8

const (
	Initialize Purpose = iota // initial weights
	Order                     // order of the data in an epoch
	HoldOut                   // which rows are set aside for validation
	Subset                    // which rows a subset keeps
	Binarize                  // stochastic binarisation of a datum, once per training step
	Wake                      // hidden units drawn from the recognition network
	Sleep                     // dreams: sample s is the s-th sleep phase of the step
	Importance                // hidden units drawn to evaluate a likelihood
	Dream                     // the outer samples of log Z²
	Inner                     // the inner samples of log Z²
	Posterior                 // encoding and reconstruction
	Synthesis                 // synthetic data sets
	Observe                   // stochastic binarisation of a datum to evaluate
	Select                    // which rows of a split to look at
	Ancestral                 // ancestral samples to look at
	Descend                   // redrawn layers of an ancestral sample; the step is the layer above them
	Candidate                 // candidates of a Gibbs sweep
	Pick                      // which candidate a Gibbs sweep picks
	Marginal                  // hidden units drawn to estimate √p̃*(x) in a Gibbs sweep
	Hide                      // which pixels of an image a mask hides
	Start                     // where the chains of a Boltzmann machine start
	Negative                  // units of a Boltzmann machine in chains for learning; the sample is the sweep of the step
	Swap                      // whether replicas of a chain at neighbouring temperatures swap; the sample is the hotter replica
	Flip                      // which visible unit estimates the pseudo-likelihood of a Boltzmann machine
	Chain                     // units in chains to look at; the step is the sweep
	Clamp                     // units in chains with some known visible units
	Anneal                    // units in annealing chains; the step is the step of the schedule
	Pilot                     // units in chains that find a schedule
	Reverse                   // units in reversed annealing chains
	Exact                     // exact samples of a Boltzmann machine
	Accept                    // whether the chain of a datum moves to a sample
	Rung                      // units in samples of an earlier training step's machine
	Bridge                    // units in samples that bridge log Z
	Drift                     // units in long chains that begin at training rows
)

// Key is the 64-bit seed of a generator.
type Key uint64

// Counter names a block of four draws. It has four fields, since the compiler keeps no more in registers: a copy from
// memory would wait for the fields that were just written.
type Counter struct {
	Word
	Sample uint32 // sample of the datum
	Datum  uint32 // row of the datum
	Step   uint32 // training step, or sweep
}

// Word is the first word of a Counter.
type Word struct {
	Purpose Purpose
	Layer   uint8  // layer of the units drawn
	Unit    uint16 // index of the first of the four units, divided by four
}

// Block returns the four 32-bit words of counter c under key k.
func (k Key) Block(c Counter) [4]uint32 {
	return rounds(
		uint32(k), uint32(k>>32),
		uint32(c.Unit)|uint32(c.Layer)<<16|uint32(c.Purpose)<<24, c.Sample, c.Datum, c.Step)
}

func rounds(k0, k1, c0, c1, c2, c3 uint32) [4]uint32 {
	const (
		m0, m1 = 0xD2511F53, 0xCD9E8D57
		w0, w1 = 0x9E3779B9, 0xBB67AE85
	)
	for range 10 {
		p0 := uint64(m0) * uint64(c0)
		p1 := uint64(m1) * uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += w0
		k1 += w1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Uniform maps a random word to an odd multiple of 2⁻²⁴ in (0, 1). An event of probability p
// happens if the result is below p. So an event of vanishing probability never happens, and an
// event of probability near 1 always happens.
func Uniform(w uint32) float32 { return float32(w>>9)*0x1p-23 + 0x1p-24 }
