package engine

// Rule defines how a step uses the draws of its phases: the importance weights ω = (p(x,h)/q(h|x))ʳ
// of the wake samples in the gradient of θ, and the parts of the gradient of φ.
type Rule struct {
	// Exponent is r. The weights of a datum are normalised, so 0 gives its samples equal weights.
	Exponent float64
	// QWake is the factor of the q-wake gradient, which is computed from wake samples (Várady 2025,
	// 2.30). Sleep is the factor of the sleep gradient, which is computed from dreams (Várady 2025,
	// 2.31). A factor of 0 omits the phase. Rescaling the sleep phase (Várady 2025, 5.4.1)
	// multiplies Sleep.
	QWake, Sleep float64
	// Reinforce replaces the weights of the q-wake gradient by (log p(x,h) − log q(h|x) − b)/S,
	// with b chosen by Algorithm.ReinforceBaseline.
	Reinforce bool
	// Estimator, if not nil, weighs the wake samples in the gradients of both networks. QWake
	// multiplies the weights for q. The Fisher blocks of p keep the importance weights.
	Estimator *Estimator
	// Chains weighs the wake samples by Metropolis chains. Each training row has one chain, with q
	// as the proposal distribution. Sample 0 is the last state of the row's chain, or a draw from q
	// if the chain is new; the other samples are proposals. A sample's weight is the fraction of
	// the S−1 proposals after which the chain was at the sample; Exponent does not affect it. The
	// Fisher blocks use S draws from q with their importance weights. Baseline must be off.
	Chains bool
}

// Estimator weighs the samples h_k ~ q(h|x) of a datum x, so that
//
//	Σ_k p_k ∂ log p(x,h_k)   and   Σ_k q_k ∂ log q(h_k|x)
//
// estimate the gradient of an objective with respect to θ and φ.
type Estimator struct {
	Name string
	// Weigh writes the weights p and q of S samples, given their log p(x,h) and log q(h|x) in nats. p
	// and q are 0 when it is called. Several goroutines may call it at once.
	Weigh func(logP, logQ, p, q []float64)
}

func (e *Estimator) String() string { return e.Name }

// These are the published rules.
var (
	// WakeSleep trains q only on dreams (Várady 2025, 2.22, 2.23).
	WakeSleep = Rule{Sleep: 1}
	// ReweightedWakeSleep weighs samples by p/q (Várady 2025, 2.28) and trains q with the mean of
	// the q-wake and sleep gradients (Várady 2025, 2.32).
	ReweightedWakeSleep = Rule{Exponent: 1, QWake: 0.5, Sleep: 0.5}
	// Bidirectional weighs samples by √(p/q) (Várady 2025, 2.37) and trains q only on them.
	Bidirectional = Rule{Exponent: 0.5, QWake: 1}
	// JointStochastic trains both networks on samples of p(h|x) from Metropolis chains (Ou and Song
	// 2020).
	JointStochastic = Rule{Exponent: 1, QWake: 1, Chains: true}
	// Reinforce trains both networks with the gradient of the bound E_q[log p(x,h) − log q(h|x)]
	// (Várady 2025, 2.3.3).
	Reinforce = Rule{QWake: 1, Reinforce: true}
)
