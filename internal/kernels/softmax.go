package kernels

import (
	"math"
	"slices"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Variable is a categorical variable. At most one of its units is on, unit j with probability
// e^aⱼ/Σ e^a. With Rest it has one more category, which has no unit and the logit 0.
type Variable struct {
	Units int
	Rest  bool
}

// The functions here treat the units of consecutive variables in single precision, identically for
// all instruction sets.

// room is memory for a row of units.
type room struct{ off, rests, copied []float32 }

var rooms = sync.Pool{New: func() any { return new(room) }}

// rates replaces each logit a by the rate −e/(1+e) with e = e^(a−m), where m is the largest logit
// of the variable. NegateMeans returns this rate for a unit with the logit a−m. rates
// sets r.rests to the rates of the categories without a unit, whose logit is 0. It returns Σ (a−m)
// over the logits a of the variables' categories in states. states may be nil if this sum is not
// needed.
func (r *room) rates(logits, states []float32, variables []Variable) (sum float64) {
	r.rests = slices.Grow(r.rests[:0], len(variables))[:len(variables)]
	first, rest := 0, false
	for g, v := range variables {
		of := logits[first : first+v.Units]
		m := of[0]
		for _, a := range of[1:] {
			m = max(m, a)
		}
		on := float32(0)
		if states != nil {
			for k, s := range states[first : first+v.Units] {
				on += s * of[k]
			}
		}
		if v.Rest {
			m, rest = max(m, 0), true
		}
		r.rests[g] = -m
		for k := range of {
			of[k] -= m
		}
		sum += float64(on - m)
		first += v.Units
	}
	NegateMeans(logits)
	if rest {
		NegateMeans(r.rests)
	}
	return sum
}

// exponential returns e^(a−m) for the rate of a category.
func exponential(rate float32) float32 { return -rate / (1 + rate) }

// exponentials replaces the rates of a variable by e^(a−m), and returns the sum of e^(a−m) over all
// categories. rest is the rate of the category without a unit.
func exponentials(rates []float32, v Variable, rest float32) (total float32) {
	if v.Rest {
		total = exponential(rest)
	}
	for k, rate := range rates {
		e := exponential(rate)
		rates[k] = e
		total += e
	}
	return total
}

// ResidualCategories replaces the logits of the units of variables by the derivatives of the
// log-probability of states, which are states minus probabilities. It returns the log-probability
// in nats.
func ResidualCategories(logits, states []float32, variables []Variable) float64 {
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	logP := r.rates(logits, states, variables)
	product, first := 1.0, 0 // of several sums, so that they need only one logarithm
	for g, v := range variables {
		of := logits[first : first+v.Units]
		total := exponentials(of, v, r.rests[g])
		if product *= float64(total); !(product < 0x1p900) {
			logP, product = logP-math.Log(product), 1
		}
		scale := 1 / total
		for k, s := range states[first : first+v.Units] {
			of[k] = s - float32(of[k]*scale)
		}
		first += v.Units
	}
	return logP - math.Log(product)
}

// MeanCategories replaces the logits of the units of variables by their probabilities.
func MeanCategories(logits []float32, variables []Variable) {
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	r.rates(logits, nil, variables)
	first := 0
	for g, v := range variables {
		of := logits[first : first+v.Units]
		total := exponentials(of, v, r.rests[g])
		for k := range of {
			of[k] /= total
		}
		first += v.Units
	}
}

// DrawCategories samples the units of variables. Variable g uses the random word that Draw uses for
// unit g. The blocks of words begin at the Unit of the counter.
func DrawCategories(states, logits []float32, variables []Variable, key philox.Key, c philox.Counter) {
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	r.copied = append(r.copied[:0], logits...)
	logits = r.copied
	r.rates(logits, nil, variables)
	clear(states[:len(logits)])
	var words [4]uint32
	block, first := c.Unit, 0
	for g, v := range variables {
		if g&3 == 0 {
			c.Unit = block + uint16(g>>2)
			words = key.Block(c)
		}
		of := logits[first : first+v.Units]
		total := exponentials(of, v, r.rests[g])
		chosen := choose(of, v, r.rests[g], total, philox.Uniform(words[g&3]))
		if chosen < v.Units {
			states[first+chosen] = 1
		}
		first += v.Units
	}
}

// choose returns the index of the category that the uniform number u selects, or v.Units for the
// category without a unit. of holds e^(a−m) of the units, rest the rate of the category without a
// unit, and total the sum over all categories. If rounding leads to a category of vanishing
// probability, choose returns the likeliest category instead.
func choose(of []float32, v Variable, rest, total, u float32) int {
	left, chosen := u*total, 0
	for _, e := range of { // without a branch, which random choices would make slow
		before := 0
		if left -= e; left >= 0 {
			before = 1
		}
		chosen += before
	}
	if chosen == v.Units && !v.Rest {
		chosen--
	}
	e := exponential(rest)
	if chosen < v.Units {
		e = of[chosen]
	}
	if !(e < total*0x1p-24) {
		return chosen
	}
	likeliest := 0
	for k := range of {
		if of[k] > of[likeliest] {
			likeliest = k
		}
	}
	if v.Rest && exponential(rest) > of[likeliest] {
		return v.Units
	}
	return likeliest
}
