// Package updown fine-tunes deep belief networks by the up–down algorithm (Hinton, Osindero and Teh 2006):
// the wake-sleep algorithm for a Helmholtz machine whose prior is a restricted Boltzmann machine,
//
//	p(v,h¹,…,h^K) = p(v|h¹) ⋯ p(h^{K−1}|h^K) p(h^K),   q(h|v) = q(h¹|v) ⋯ q(h^K|h^{K−1}).
//
// Here p(h^K) is the distribution of the visible units of the restricted machine. A network that was trained
// layer by layer uses the same weights to recognise and to generate. Fine-tuning separates the two.
//
//	e := updown.Family.Experiment(digits)
//	e.Settings.Network.Run = "runs/dbn/layer-2"
//	run, err := e.Train(ctx, digits, "runs/tuned")
//	test, err := run.Model().Evaluate(ctx, digits, digits.Test(), boltzmann.Annealing{}, nil)
//
// In the wake phase, the hidden units are drawn from q, each generative layer learns to draw the layer below
// from the layer above, and the prior learns from h^K by contrastive divergence. Dreams begin where the
// prior's chains end, and descend to v. In the sleep phase, each recognition layer learns to recover the
// layer from which a dream was drawn.
//
// # Sources
//
// The gradients of wake and sleep are the same as in package hm (Várady 2025, 2.22 and 2.31), and the prior's
// gradient is the same as in package boltzmann. log p(v) is estimated from importance samples of q and from
// log Z of the prior. The importance samples make it too low in expectation; annealed importance sampling of
// log Z makes it too high. All values are in nats.
package updown
