package engine

// Rule is what a step makes of the draws of its phases: the importance weights
// ω = (p(x,h)/q(h|x))ʳ of the wake samples, by which θ moves, and the gradients by which
// φ does.
type Rule struct {
	// Exponent is r. The weights of a datum are normalised, so that 0 weighs its samples
	// equally.
	Exponent float64
	// QWake and Sleep are the factors of the q-wake gradient, from wake samples (Várady 2025,
	// 2.30), and of the sleep gradient, from dreams (Várady 2025, 2.31); 0 leaves a phase out.
	// Rescaled sleep multiplies that of sleep (Várady 2025, 5.4.1).
	QWake, Sleep float64
	// Reinforce has log p(x,h) − log q(h|x) − b for the weights of the q-wake gradient,
	// over S, and b by the Algorithm's ReinforceBaseline.
	Reinforce bool
	// Estimator, if not nil, weighs the wake samples in the gradients of both networks, where
	// QWake scales its weights for q. The Fisher blocks of p keep the importance weights.
	Estimator *Estimator
	// Chains lets a Metropolis chain for each training row, with q as its proposal, choose the wake
	// samples. Sample 0 is where the chain of the row stopped, or a draw of q if the chain begins;
	// the other samples are proposals. The weights of the samples are how often the chain was at
	// them after each proposal, over S−1, and 0 of what Exponent says. The Fisher blocks are
	// those of S draws of q with their importance weights. Baseline must be off.
	Chains bool
}

// Estimator weighs the samples h_k ~ q(h|x) of a datum x, so that
//
//	Σ_k p_k ∂ log p(x,h_k)   and   Σ_k q_k ∂ log q(h_k|x)
//
// estimate the gradient of an objective by θ and φ.
type Estimator struct {
	Name string
	// Weigh writes the weights p and q of S samples, given their log p(x,h) and log q(h|x) in
	// nats. Several goroutines call it at once.
	Weigh func(logP, logQ, p, q []float64)
}

func (e *Estimator) String() string { return e.Name }

// The published rules.
var (
	// WakeSleep trains q on dreams alone (Várady 2025, 2.22, 2.23).
	WakeSleep = Rule{Sleep: 1}
	// ReweightedWakeSleep weighs samples by p/q (Várady 2025, 2.28) and trains q by half the sum
	// of both gradients (Várady 2025, 2.32).
	ReweightedWakeSleep = Rule{Exponent: 1, QWake: 0.5, Sleep: 0.5}
	// Bidirectional weighs samples by √(p/q) (Várady 2025, 2.37) and trains q on them alone.
	Bidirectional = Rule{Exponent: 0.5, QWake: 1}
	// JointStochastic trains both networks on samples of p(h|x) from Metropolis chains (Ou and Song
	// 2020).
	JointStochastic = Rule{Exponent: 1, QWake: 1, Chains: true}
	// Reinforce trains both networks by the gradient of the bound
	// E_q[log p(x,h) − log q(h|x)] (Várady 2025, 2.3.3).
	Reinforce = Rule{QWake: 1, Reinforce: true}
)
