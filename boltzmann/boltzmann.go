// Package boltzmann trains and evaluates restricted and deep Boltzmann machines. Restricted
// ones are models of visible units v and hidden units h that are joined to each other, and
// not among themselves,
//
//	p(v,h) = e^(−E(v,h))/Z,   E(v,h) = −bᵀv − cᵀh − vᵀWh.
//
// Given one side, the units of the other are independent, p(h_j=1|v) = σ(c_j +
// (Wᵀv)_j) and p(v_i=1|h) = σ(b_i + (Wh)_i). The hidden units are summed out by the
// free energy F(v) = −bᵀv − Σ_j log(1 + e^(c_j + (Wᵀv)_j)), of which log p(v) =
// −F(v) − log Z. It is log Z that is hard: it is summed exactly where one side is
// small, and estimated by annealed importance sampling where both are large.
//
//	digits, err := dataset.Open("glyphs")
//	machine := boltzmann.New(digits.Shape()).Hidden(500)
//	pcd := boltzmann.PCD().Chains(100).LearningRate(0.2).Epochs(20)
//	run, err := pcd.Train(ctx, machine, digits, "runs/rbm")
//	images, err := run.Means(ctx, 100, 5000)
//
// With several hidden layers, Hidden(500, 1000), the machine is deep: each layer is joined to
// those beside it. It is a restricted machine between its even and its odd layers, of which v
// alone is observed; what is hidden is found by mean field, which bounds log p(v). TrainBelief
// makes a deep belief network of its layers instead, restricted machines on top of each other, and
// TrainPretrained a deep machine that begins from layers that were trained greedily. Method.From
// starts from another run.
//
// Visible units are Bernoulli, as above, Gaussian or categorical, and so are the
// hidden units of one layer: see Kind. With Labels a machine
// is one of rows and their labels, and classifies. Machines and
// methods are values: each setter returns a changed copy, and the first wrong setting is the
// error of the call that does the work. A run lives in a directory, from which OpenRun takes
// it up again and Train resumes it. Log-probabilities and energies are in nats.
//
// # Learning
//
// The gradient of log p(v) is the difference of the means of vhᵀ, v and h given the data
// and of those of the model, which Markov chains estimate. CD, PCD, PT and PTT say where these
// come from; PL does without them. Metric says how natural gradients are measured. What the
// objective is of a model whose log p is not at hand, Experiment.Measures says.
//
// # Sources
//
// Comments cite (Goodfellow et al. 2016, section) for the book Deep Learning, whose chapter 20
// is on deep generative models, and articles by their authors. REFERENCES.md lists
// them.
package boltzmann
