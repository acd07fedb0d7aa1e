package cpu

// estimated weighs the wake samples by the algorithm's Estimator. It weighs dreams like likelihood.
type estimated struct {
	likelihood
	weights [2][]float64 // weights of the wake samples in the gradients of p and q
}

func newEstimated(s *samples) estimated {
	return estimated{likelihood{s}, [2][]float64{make([]float64, len(s.importance)), make([]float64, len(s.importance))}}
}

func (o estimated) weighImportance(part *pass, first int, rows []int, at place) {
	o.likelihood.weighImportance(part, first, rows, at)
	for d := range part.data {
		from, to := d*part.samples, (d+1)*part.samples
		into := first * part.samples
		p, q := o.weights[generative][into+from:into+to], o.weights[recognition][into+from:into+to]
		clear(p)
		clear(q)
		o.algorithm.Estimator.Weigh(part.logP[from:to], part.logQ[from:to], p, q)
	}
}

func (o estimated) weight(of *lesson, n network, r int) float64 {
	if of != o.wake {
		return o.likelihood.weight(of, n, r)
	}
	weight := o.weights[n][r] / float64(of.data)
	if n == recognition {
		weight *= o.algorithm.QWake
	}
	return weight
}
