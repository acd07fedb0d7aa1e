// Package updown fine-tunes deep belief networks by the up–down algorithm (Hinton, Osindero and Teh 2006):
// wake-sleep of a Helmholtz machine whose prior is a restricted Boltzmann machine,
//
//	p(v,h¹,…,h^K) = p(v|h¹) ⋯ p(h^{K−1}|h^K) p(h^K),   q(h|v) = q(h¹|v) ⋯ q(h^K|h^{K−1}).
//
// Here p(h^K) is the distribution of the visible units of the restricted machine. A network that was trained
// layer by layer recognises with the same weights with which it generates; fine-tuning separates the two.
//
//	e := updown.NewExperiment(digits, "runs/dbn/layer-2")
//	run, err := e.Train(ctx, digits, "runs/tuned")
//	test, err := run.Model().Evaluate(ctx, digits, digits.Test(), boltzmann.Annealing{}, nil)
//
// In the wake phase, the hidden units are drawn from q, each generative layer learns to draw the layer below
// from the layer above, and the prior learns from h^K by contrastive divergence. Dreams begin where its chains
// end, and descend to v. In the sleep phase, each recognition layer learns to recover the layer that a dream
// came from.
//
// # Sources
//
// The gradients of wake and sleep are as in package hm (Várady 2025, 2.22 and 2.31), the prior's gradient as in
// package boltzmann. log p(v) is estimated by importance samples of q, which make it too low in expectation,
// and by log Z of the prior; annealed importance sampling of log Z makes log p too high in expectation. All are
// in nats.
package updown
