// Package updown fine-tunes deep belief networks by the up–down algorithm (Hinton, Osindero
// and Teh 2006): wake-sleep of a Helmholtz machine whose prior is a restricted Boltzmann machine,
//
//	p(v,h¹,…,h^K) = p(v|h¹) ⋯ p(h^{K−1}|h^K) p(h^K),   q(h|v) = q(h¹|v) ⋯ q(h^K|h^{K−1}),
//
// where p(h^K) is that of the visible units of the restricted machine. A network that was
// trained layer by layer recognises by the weights that it generates by; here the two part.
//
//	e := updown.NewExperiment(digits, "runs/dbn/layer-2")
//	run, err := e.Train(ctx, digits, "runs/tuned")
//	test, err := run.Model().Evaluate(ctx, digits, digits.Test(), boltzmann.Annealing{}, nil)
//
// In the wake phase the hidden units are drawn from q, each generative layer learns to draw the
// layer below it from it, and the prior learns from h^K by contrastive divergence. Where its
// chains end, dreams begin: they descend to v, and in the sleep phase each recognition layer
// learns to find the layer that a dream came from.
//
// # Sources
//
// The gradients of wake and sleep are those of package hm (Várady 2025, 2.22 and 2.31), the prior's
// that of package boltzmann. log p(v) is estimated by importance samples of q, which err to the
// low side, and by log Z of the prior, of which that of annealed importance sampling makes log p
// too high in expectation. All are in nats.
package updown
