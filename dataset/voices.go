package dataset

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const (
	voicesSteps = 50
	// voices is the number of voices, each of which sings one of voicePitches pitches at every step.
	voices, voicePitches = 4, 3
)

// A chord holds the pitch of each voice, the bass first.
type chord [voices]int

func chordAt(i int) (c chord) {
	for v := voices - 1; v >= 0; v, i = v-1, i/voicePitches {
		c[v] = i % voicePitches
	}
	return c
}

// successors returns the probability of every chord after c. The bass stays with probability ½, or moves up or
// down by one pitch, in a circle. The place of voice v is v pitches above the bass, in the same circle. A voice
// that is elsewhere moves to its place with probability ¾, and stays otherwise.
func (c chord) successors() (p [81]float64) {
	for i := range p {
		next := chordAt(i)
		p[i] = 0.25
		if next[0] == c[0] {
			p[i] = 0.5
		}
		for v := 1; v < voices; v++ {
			switch wanted := (next[0] + v) % voicePitches; next[v] {
			case wanted:
				if c[v] != wanted {
					p[i] *= 0.75
				}
			case c[v]:
				p[i] *= 0.25
			default:
				p[i] = 0
			}
		}
	}
	return p
}

// stationary returns the stationary distribution of chords, computed by 200 steps of the Markov chain.
func stationary() (p [81]float64) {
	p[0] = 1
	for range 200 {
		var next [81]float64
		for i, of := range p {
			for j, to := range chordAt(i).successors() {
				next[j] += of * to
			}
		}
		p = next
	}
	return p
}

func entropy(p [81]float64) (h float64) {
	for _, p := range p {
		if p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// VoicesEntropy returns the entropy, in nats, of the first step of a sequence of the set voices, and of each later
// step given the steps before it. The expected log p of a step is at most minus its entropy, for any model.
func VoicesEntropy() (first, next float64) {
	p := stationary()
	for i, of := range p {
		next += of * entropy(chordAt(i).successors())
	}
	return entropy(p), next
}

// readVoices makes sequences of four voices from a grammar that is a Markov chain of chords.
func readVoices(c collection) (source, error) {
	start := stationary()
	var after [81][81]float64
	for i := range after {
		after[i] = chordAt(i).successors()
	}
	draw := func(p *[81]float64, u float64) int {
		last := 0
		for i, of := range p {
			if of > 0 {
				last = i
				if u -= of; u < 0 {
					break
				}
			}
		}
		return last
	}
	return c.synthesized(func(stream *philox.Stream, steps [][]uint8) {
		p := &start
		for _, step := range steps {
			at := draw(p, float64(philox.Uniform(stream.Uint32())))
			for v, pitch := range chordAt(at) {
				step[v*voicePitches+pitch] = 255
			}
			p = &after[at]
		}
	}), nil
}
