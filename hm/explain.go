package hm

import (
	"fmt"
	"strings"
)

// Explain describes one training step of the method, in Markdown with equations in TeX, and names the
// source of the method. The equations contain the values of the settings. h_k stands for the k-th of
// the S samples that a step draws from q(h|x) for each row x of its minibatch.
func (m Method) Explain() string {
	s := m.spec
	rule := s.algorithm(1).Rule
	var b strings.Builder
	write := func(format string, values ...any) { fmt.Fprintf(&b, format+"\n\n", values...) }
	write("**%v**: a step takes $B = %d$ rows $x$ and $S = %d$ samples $h_k \\sim q(h|x)$ for each.", s, s.BatchSize, s.Samples)
	e, registered := s.Phases.estimator()
	if registered && e.Text != "" {
		write("%s", e.Text)
		if parameters := s.PhaseParameters; len(parameters) > 0 {
			write("Its parameters are %v.", parameters)
		} else if len(e.Parameters) > 0 {
			write("Its parameters are %v.", e.Parameters)
		}
	}
	if e.Sleep != 0 {
		write("*Sleep*: $q$ also learns from dreams $x, h \\sim p$, by %g times the gradient of $\\log q(h|x)$.", rule.Sleep)
	}
	switch s.Phases {
	case WakeSleep:
		write("*Wake*: $p$ learns to generate what $q$ explains the data by,\n\n$$\\nabla_\\theta = \\frac1S \\sum_k \\nabla \\log p(x, h_k).$$")
		write("*Sleep*: $q$ learns to explain dreams $x, h \\sim p$,\n\n$$\\nabla_\\phi = %s\\nabla \\log q(h|x).$$", strings.TrimPrefix(fmt.Sprintf("%g ", rule.Sleep), "1 "))
	case ReweightedWakeSleep, Bidirectional:
		ratio, source := `\frac{p(x, h_k)}{q(h_k|x)}`, "p(h|x)"
		if s.Phases == Bidirectional {
			ratio, source = `\sqrt{\frac{p(x, h_k)}{q(h_k|x)}}`, "p^*(h|x)"
		}
		weight := `\tilde\omega_k`
		if s.Baseline {
			weight = `\left(\tilde\omega_k - \frac1S\right)`
		}
		write("The samples stand for draws of $%s$ by their importance weights,\n\n$$\\omega_k = %s, \\qquad \\tilde\\omega_k = \\frac{\\omega_k}{\\sum_j \\omega_j}.$$", source, ratio)
		write("*Wake*: $$\\nabla_\\theta = \\sum_k \\tilde\\omega_k \\nabla \\log p(x, h_k).$$")
		write("*q-wake*: $$\\nabla_\\phi = \\sum_k %s \\nabla \\log q(h_k|x).$$", weight)
		if s.Phases == ReweightedWakeSleep {
			write("*Sleep*: the gradient of $\\log q(h|x)$ of dreams $x, h \\sim p$; $q$ moves by %g times the q-wake and %g times the sleep gradient.", rule.QWake, rule.Sleep)
		}
	case JointStochastic:
		write("A Metropolis chain for each row, which resumes where it stopped an epoch earlier, moves from $h$ to a proposal $h_k \\sim q(h|x)$ with probability $\\min(1, \\omega(h_k)/\\omega(h))$, $\\omega(h) = p(x,h)/q(h|x)$, and so tends to $p(h|x)$. Sample 1 is the state where it stopped, and the other $S - 1$ are proposals.")
		write("Both networks learn from the states that it visits: $p$ by the mean of $\\nabla \\log p(x, h)$, $q$ by the mean of $\\nabla \\log q(h|x)$.")
	case Reinforce:
		write("Both networks ascend the bound $E_q[\\log p(x,h) - \\log q(h|x)]$: $p$ by $\\nabla \\log p(x, h_k)$, $q$ by $\\nabla \\log q(h_k|x)$ "+
			"times $\\log p(x,h_k) - \\log q(h_k|x)$ minus a baseline (%v).", s.ReinforceBaseline)
	}
	if s.SleepSteps > 1 {
		write("The sleep phase is repeated %d times per step (Várady 2025, 5.4.1).", s.SleepSteps)
	}
	if s.Entropy != 0 {
		write("To the gradients, %g times the gradient of the units' conditional entropies is added: for $p$ in dreams, for $q$ in the samples $h_k$ (Várady 2025, 6.3).", s.Entropy)
	}
	if s.EntropyEstimator != 0 {
		write("To the gradients, %g times an estimator of the entropies' gradient is added, whose mean is 0 (Várady 2025, below 6.17).", s.EntropyEstimator)
	}
	if s.Metric == Euclidean {
		write("The direction is the gradient itself.")
	} else {
		write("The *natural* direction is the gradient in the Fisher metric (%v), whose matrix $F$ splits into one block per unit, over its own weights and bias, "+
			"damped by $\\alpha = %g$ and recomputed every $K = %d$ steps (Várady 2025, 5.10, 5.3.4),\n\n$$\\tilde\\nabla = (1 + \\alpha)\\,(\\alpha I + F)^{-1}\\, \\nabla.$$", s.Metric, s.Damping, s.RefreshEvery)
	}
	if s.L1 != 0 || s.L2 != 0 {
		write("From the direction of each weight $w$, $%g\\,\\mathrm{sign}(w) + %g\\,w$ is subtracted (Várady 2025, 6.14).", s.L1, s.L2)
	}
	if s.WarmUp > 0 {
		write("Regularisers rise to their strength over %d epochs.", s.WarmUp)
	}
	write("The update is made by %s with the learning rate $\\eta = %g$ (%v), for %d epochs.",
		map[Optimizer]string{GradientDescent: "gradient ascent", Momentum: "momentum", Nesterov: "Nesterov's look-ahead", Adam: "Adam"}[s.Optimizer], s.LearningRate, s.Schedule, m.budget.Epochs)
	source := sources[s.published()]
	if registered {
		source = e.Source
	}
	if source != "" {
		write("Source: %s.", source)
	}
	return b.String()
}

// sources lists where the published methods are described. Várady 2025 and BiHM thesis 2016 are the
// theses in REFERENCES.md.
var sources = map[string]string{
	"ws": "Várady 2025, 2.22–2.24", "rws": "Várady 2025, 2.27–2.32", "bihm": "Várady 2025, 2.33–2.38; BiHM thesis 2016, ch. 3", "nws": "Várady 2025, 5.5–5.12",
	"nrws": "Várady 2025, 5.8, Algorithm 4", "dnrws": "Várady 2025, 5.13–5.14", "nbihm": "Várady 2025, 5.3.8", "reinforce": "Várady 2025, 2.3.3", "jsa": "Ou and Song 2020",
}

// Explain describes the machine in Markdown: how its networks factorise over layers, the number of
// units in each layer, and the number of parameters. If the machine is not valid, it returns the text
// of the error.
func (m Machine) Explain() string {
	a := m.spec.architecture(m.shape)
	if err := m.spec.check(m.shape, "the data"); err != nil {
		return err.Error()
	}
	name := func(layer int) string {
		if layer == 0 {
			return "x"
		}
		return fmt.Sprintf("h^{%d}", layer)
	}
	var generative, recognition, graph []string
	for i := range a.Units {
		graph = append(graph, fmt.Sprintf("%s_{(%d)}", name(i), a.Units[i]))
		if i == a.Depth() {
			generative = append(generative, fmt.Sprintf("p(%s)", name(i)))
			break
		}
		generative = append(generative, fmt.Sprintf("p(%s|%s)", name(i), name(i+1)))
		recognition = append(recognition, fmt.Sprintf("q(%s|%s)", name(i+1), name(i)))
	}
	tanh := ""
	if len(a.Tanh) > 0 {
		tanh = fmt.Sprintf("Each conditional computes the outputs of its units from deterministic layers $z = \\tanh(V z')$ of %v units, which learn by back-propagation through it, in the Euclidean metric.\n\n", a.Tanh)
	}
	var table strings.Builder
	_ = m.Table().WriteMarkdown(&table) // a Builder returns no error
	return fmt.Sprintf("$$%s$$\n\n$$p(x, h) = %s, \\qquad q(h|x) = %s$$\n\n%s%s\n%d parameters.\n",
		strings.Join(graph, ` \;\overset{q}{\underset{p}{\rightleftarrows}}\; `), strings.Join(generative, `\,`), strings.Join(recognition, `\,`), tanh, table.String(), a.Size())
}
