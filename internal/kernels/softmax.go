package kernels

// The functions here treat a categorical variable in single precision, identically for all
// instruction sets. With rest, the variable has one more category, without a unit, whose logit is 0.

// softmax replaces logits by e^(a−m), where m is the largest logit, and returns m and the sum over
// all categories.
func softmax(logits []float32, rest bool) (largest, total float32) {
	largest = logits[0]
	for _, a := range logits[1:] {
		largest = max(largest, a)
	}
	if rest {
		largest = max(largest, 0)
		total = expNegative(largest)
	}
	for k, a := range logits {
		logits[k] = expNegative(largest - a)
		total += logits[k]
	}
	return largest, total
}

// Softmax replaces the logits of a variable by the probabilities of its units.
func Softmax(logits []float32, rest bool) {
	_, total := softmax(logits, rest)
	for k := range logits {
		logits[k] /= total
	}
}

// ResidualSoftmax replaces the logits of a variable by the derivatives of its log-probability,
// states minus probabilities. The log-probability, in nats, is logP − ln total. The sum total lies
// between 1 and the number of categories, so that the product over many variables needs one logarithm.
func ResidualSoftmax(logits, states []float32, rest bool) (logP, total float64) {
	states = states[:len(logits)]
	on := float32(0) // the logit of the category
	for k, s := range states {
		if s > 0 {
			on = logits[k]
		}
	}
	largest, sum := softmax(logits, rest)
	scale := 1 / sum
	for k, e := range logits {
		logits[k] = states[k] - float32(e*scale)
	}
	return float64(on - largest), float64(sum)
}

// ChooseSoftmax turns on the unit of a variable that a number u in (0, 1) chooses, given its
// probabilities: the first unit up to which they sum to more than u. If there is none, it turns on
// the last unit, or with rest no unit.
func ChooseSoftmax(states, probabilities []float32, rest bool, u float32) {
	states = states[:len(probabilities)]
	clear(states)
	sum := float32(0)
	for k, p := range probabilities {
		sum += p
		if u < sum {
			states[k] = 1
			return
		}
	}
	if !rest {
		states[len(states)-1] = 1
	}
}
