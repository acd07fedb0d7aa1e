// Package hm trains and evaluates Helmholtz machines: generative models with a top-down generative
// network p and a bottom-up recognition network q, learned layer by layer without back-propagation
// between layers.
//
//	digits, err := dataset.Open("glyphs")
//	machine := hm.New(digits.Shape()).Dense(100, 50, 20).Coding(hm.PlusMinusOne)
//	nrws := hm.NRWS().LearningRate(0.02).Damping(0.1).Epochs(15)
//	run, err := nrws.Train(ctx, machine, digits, "runs/glyphs")
//	test, err := run.Evaluate(ctx, digits.Test(), 1000, nil)
//
// Machines and methods are values: each setter returns a changed copy, and the call that does the
// work returns an error for the first wrong setting. A run lives in a directory; OpenRun opens it,
// and Train resumes it.
//
// # Notation
//
// A machine has the data x and hidden layers h = h¹ … hᴹ. The generative network is the model
// p(x,h), and the recognition network q(h|x) infers h. The number of samples h ~ q(h|x) per row is S in
// training and K in evaluations; as a setting of Fisher blocks, K is the number of steps between two
// refreshes. As a bidirectional machine, the two networks together define the model
//
//	p*(x,h) = √(p(x,h) q(h|x) p*(x))/Z,   p*(x) = p̃*(x)/Z²,   p̃*(x) = (Σ_h √(p(x,h) q(h|x)))²
//
// (BiHM thesis 2016, ch. 3). log Z² ≤ 0 has to be estimated, and log p̃*(x) is a lower bound on log
// p(x) and on log p*(x). A dream is a draw x,h ~ p. An effective sample size (ESS) is a fraction of
// the samples, in (0, 1]: (Σ ω)²/(K Σ ω²) with the importance weights ω.
//
// # Sources
//
// Comments cite equations and sections of two theses: (Várady 2025, 5.10) on natural reweighted
// wake-sleep, and (BiHM thesis 2016, 3.6) on the bidirectional Helmholtz machine of Bornschein,
// Shabanian, Fischer and Bengio (2016). REFERENCES.md lists them and all other cited works.
// If a printed formula is wrong, the comment gives the corrected form.
//
// # Units
//
// Log-likelihoods and divergences are in nats.
package hm
