// Package boltzmann trains and evaluates restricted Boltzmann machines: models of
// visible units v and hidden units h that are joined to each other, and not among
// themselves,
//
//	p(v,h) = e^(−E(v,h))/Z,   E(v,h) = −bᵀv − cᵀh − vᵀWh.
//
// Given one side, the units of the other are independent, p(h_j=1|v) = σ(c_j +
// (Wᵀv)_j) and p(v_i=1|h) = σ(b_i + (Wh)_i). The hidden units are summed out by the
// free energy F(v) = −bᵀv − Σ_j log(1 + e^(c_j + (Wᵀv)_j)), of which log p(v) =
// −F(v) − log Z. It is log Z that is hard: it is summed exactly where one side is
// small.
//
//	digits, err := dataset.Open("glyphs")
//	machine := boltzmann.New(digits.Shape()).Hidden(500)
//	model, err := machine.Model(1)
//
// Machines are values: each setter returns a changed copy, and the first wrong setting
// is the error of the call that does the work. Log-probabilities and energies are in
// nats.
//
// # Sources
//
// Comments cite (003, section) for chapter 20, on deep generative models, of
// I. Goodfellow, Y. Bengio and A. Courville, Deep Learning, MIT Press, 2016, and articles by
// their authors.
package boltzmann
