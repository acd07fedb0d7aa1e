// Package hm trains and evaluates Helmholtz machines: generative models with a
// top-down generative network p and a bottom-up recognition network q, learned
// layer by layer without back-propagation.
//
//	digits, err := dataset.Open("glyphs")
//	machine := hm.New(digits.Shape()).Dense(100, 50, 20).Coding(hm.PlusMinusOne)
//	nrws := hm.NRWS().LearningRate(0.02).Damping(0.1).Epochs(15)
//	run, err := nrws.Train(ctx, machine, digits, "runs/glyphs")
//	test, err := run.Evaluate(ctx, digits.Test(), 1000, nil)
//
// Machines and methods are values: each setter returns a changed copy, and the
// first wrong setting is the error of the call that does the work. A run lives
// in a directory, from which OpenRun takes it up again and Train resumes it.
//
// # Sources
//
// Comments cite (Várady 2025, equation) for C. H. Várady, Geometric Learning of Latent
// Parameters with Helmholtz Machines, Hamburg University of Technology, 2025,
// and (BiHM thesis 2016, equation) for the thesis of 2016 on the bidirectional Helmholtz
// machine of Bornschein, Shabanian, Fischer and Bengio. Where the print is
// wrong, the comment says what the corrected form is.
//
// # Units
//
// Log-likelihoods and divergences are in nats.
package hm
