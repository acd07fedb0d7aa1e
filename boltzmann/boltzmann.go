// Package boltzmann trains and evaluates restricted and deep Boltzmann machines. In a restricted machine,
// visible units v and hidden units h are joined to each other, but not among themselves:
//
//	p(v,h) = e^(−E(v,h))/Z,   E(v,h) = −bᵀv − cᵀh − vᵀWh.
//
// Given one side, the units of the other are independent: p(h_j=1|v) = σ(c_j + (Wᵀv)_j) and p(v_i=1|h) = σ(b_i
// + (Wh)_i). Summing out the hidden units gives the free energy F(v) = −bᵀv − Σ_j log(1 + e^(c_j + (Wᵀv)_j)),
// and log p(v) = −F(v) − log Z. The hard part is log Z. It is summed exactly if one side is small, and
// estimated by annealed importance sampling if both are large.
//
//	digits, err := dataset.Open("glyphs")
//	machine := boltzmann.New(digits.Shape()).Hidden(500)
//	pcd := boltzmann.PCD().Chains(100).LearningRate(0.2).Epochs(20)
//	run, err := pcd.Train(ctx, machine, digits, "runs/rbm")
//	images, err := run.Means(ctx, 100, 5000)
//
// With several hidden layers, as in Hidden(500, 1000), the machine is deep: each layer is joined to its
// neighbours. The even and the odd layers are then the two sides of a restricted machine, in which only v is
// observed. Mean field approximates the hidden layers given v, and bounds log p(v). TrainBelief trains the layers
// as a deep belief network instead, a stack of restricted machines. TrainPretrained trains a deep machine that
// begins from greedily trained layers. Method.From starts from another run.
//
// Visible units are Bernoulli (as above), Gaussian or categorical. A machine with one hidden layer has the same
// choice for its hidden units: see Kind. A machine with Labels models rows together with their labels, and
// classifies.
//
// Machines and methods are values: each setter returns a changed copy, and the call that uses the settings, such
// as Train, reports the first wrong one. A run lives in a directory: OpenRun opens it, and Train resumes it.
// Log-probabilities and energies are in nats.
//
// # Learning
//
// The gradient of log p(v) is the mean of vhᵀ, v and h given the data minus their mean under the model. Markov
// chains estimate the mean under the model. CD, PCD, PT and PTT run these chains in different ways; PL needs no
// chains. Metric describes natural gradients. Experiment.Measures lists the objectives for models whose log p is
// intractable.
//
// # Sources
//
// Comments cite the book Deep Learning as (Goodfellow et al. 2016, section); its chapter 20 is on deep
// generative models. Comments cite articles by author and year. REFERENCES.md lists all sources.
package boltzmann
