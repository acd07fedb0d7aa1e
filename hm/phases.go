package hm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Phases names the phases of a method and the way in which they weigh the wake samples. It is one of
// the constants below, or the name of an estimator: vimco, vimco-arithmetic, ovis, tvo, or a name added
// by RegisterPhases.
type Phases string

const (
	// WakeSleep weighs samples equally and trains q only on dreams.
	WakeSleep Phases = "ws"
	// ReweightedWakeSleep weighs samples by p/q (Várady 2025, 2.28) and trains q with λ times the
	// q-wake gradient plus 1−λ times the sleep gradient. λ is its only parameter, by default ½ (Várady
	// 2025, 2.32). λ = 1 is wake-phase RWS, λ = 0 is sleep-phase RWS (Bornschein and Bengio 2015).
	ReweightedWakeSleep Phases = "rws"
	// Bidirectional weighs samples by √(p/q) (Várady 2025, 2.37) and trains q with the q-wake
	// gradient.
	Bidirectional Phases = "bihm"
	// JointStochastic trains both networks on samples of p(h|x), from one Metropolis chain per
	// training row with q as its proposal. Checkpoints contain the chains (Ou and Song 2020).
	JointStochastic Phases = "jsa"
	// Reinforce weighs samples equally and trains both networks with the gradient of the bound
	// E_q[log p(x,h) − log q(h|x)]. For q, this is the q-wake gradient with the weights log p(x,h) −
	// log q(h|x) − b, where b is the ReinforceBaseline (Várady 2025, 2.3.3).
	Reinforce Phases = "reinforce"
)

func (p Phases) String() string { return string(p) }

// MarshalText returns an error for phases that this program does not have.
func (p Phases) MarshalText() ([]byte, error) {
	if p.known() {
		return []byte(p), nil
	}
	all := phasesNames()
	return nil, fmt.Errorf("unknown phases %q%s: use one of %s, or register them first with hm.RegisterPhases", string(p), names.Meant(string(p), all...), strings.Join(all, ", "))
}

// UnmarshalText returns an error for phases that this program does not have.
func (p *Phases) UnmarshalText(text []byte) error {
	*p = Phases(text)
	_, err := p.MarshalText()
	return err
}

// Estimator describes phases in which a function of your own weighs the wake samples.
type Estimator struct {
	// Weigh writes the weights of one row's samples h_k ~ q(h|x): p[k] multiplies ∂ log p(x,h_k) in
	// the gradient of p, and q[k] multiplies ∂ log q(h_k|x) in the gradient of q. logP[k] and logQ[k]
	// are log p(x,h_k) and log q(h_k|x) in nats. p and q are 0 when Weigh is called. Weigh must depend
	// only on its arguments, because a resumed run calls it again and several goroutines call it
	// concurrently.
	Weigh func(parameters, logP, logQ, p, q []float64)
	// Parameters are the default parameters.
	Parameters []float64
	// Check, if not nil, returns an error that names the remedy for wrong parameters. If it is nil,
	// there must be the same number of parameters as in Parameters, all finite.
	Check func(parameters []float64) error
	// Samples is the smallest number of samples per row; 0 means 1.
	Samples int
	// Sleep is the factor of the sleep gradient, which q learns from in addition to the wake samples.
	Sleep float64
	// Text describes the estimator in Markdown with equations in TeX, and Source names its
	// publication. Method.Explain uses both.
	Text, Source string
}

var (
	phasesMutex sync.Mutex
	estimators  = map[Phases]Estimator{}
)

// RegisterPhases registers an estimator under a name, for Method.Phases and the key phases of
// experiment files. Preset then returns a method of that name with the settings of RWS, whose
// metric and optimiser can be changed as in any other method. RegisterPhases panics if the name is
// empty or taken, if the estimator has no Weigh, if Samples is negative, or if Sleep or one of
// Parameters is not finite. A program that resumes or opens a run with these phases must register the
// estimator first. In GoNB, each cell that resumes or opens it must register it.
func RegisterPhases(name Phases, e Estimator) Phases {
	phasesMutex.Lock()
	defer phasesMutex.Unlock()
	if name == "" || e.Weigh == nil {
		panic(fmt.Sprintf("hm: phases %q need a name and a function Weigh", string(name)))
	}
	if e.Samples < 0 || notFinite(e.Sleep) || slices.ContainsFunc(e.Parameters, notFinite) {
		panic(fmt.Sprintf("hm: phases %s with Samples = %d, Sleep = %v and Parameters = %v: use 0 samples or more, and finite numbers", name, e.Samples, e.Sleep, e.Parameters))
	}
	named := func(p point) bool { return p.name == string(name) }
	if _, taken := estimators[name]; taken || slices.Contains(published, name) || slices.ContainsFunc(presets, named) {
		panic(fmt.Sprintf("hm: other phases or a preset have the name %s: choose another name", name))
	}
	e.Parameters = slices.Clone(e.Parameters)
	estimators[name] = e
	return name
}

func notFinite(x float64) bool { return !statistics.Finite(x) }

var published = []Phases{WakeSleep, ReweightedWakeSleep, Bidirectional, Reinforce, JointStochastic}

func (p Phases) estimator() (Estimator, bool) {
	phasesMutex.Lock()
	defer phasesMutex.Unlock()
	e, registered := estimators[p]
	return e, registered
}

func (p Phases) known() bool {
	_, registered := p.estimator()
	return registered || slices.Contains(published, p)
}

// registered returns the phases of all estimators, in alphabetical order.
func registered() []Phases {
	phasesMutex.Lock()
	defer phasesMutex.Unlock()
	return slices.Sorted(maps.Keys(estimators))
}

func phasesNames() (all []string) {
	for _, p := range append(slices.Clone(published), registered()...) {
		all = append(all, string(p))
	}
	return all
}

// rule returns the engine's rule for the phases, which is empty if they are unknown.
func (s MethodSpec) rule() engine.Rule {
	switch s.Phases {
	case WakeSleep:
		return engine.WakeSleep
	case Bidirectional:
		return engine.Bidirectional
	case Reinforce:
		return engine.Reinforce
	case JointStochastic:
		return engine.JointStochastic
	case ReweightedWakeSleep:
		rule := engine.ReweightedWakeSleep
		if len(s.PhaseParameters) == 1 {
			rule.QWake = s.PhaseParameters[0]
			rule.Sleep = 1 - rule.QWake
		}
		return rule
	}
	e, registered := s.Phases.estimator()
	if !registered {
		return engine.Rule{}
	}
	parameters := e.Parameters
	if s.PhaseParameters != nil {
		parameters = s.PhaseParameters
	}
	return engine.Rule{Exponent: 1, QWake: 1, Sleep: e.Sleep, Estimator: &engine.Estimator{
		Name:  string(s.Phases),
		Weigh: func(logP, logQ, p, q []float64) { e.Weigh(parameters, logP, logQ, p, q) },
	}}
}

func (s MethodSpec) checkPhases() error {
	given := s.PhaseParameters
	if given == nil {
		return nil
	}
	e, registered := s.Phases.estimator()
	switch {
	case s.Phases == ReweightedWakeSleep:
		if len(given) != 1 || !(given[0] >= 0 && given[0] <= 1) {
			return fmt.Errorf("use one number λ from 0, sleep-phase RWS, to 1, wake-phase RWS")
		}
		return nil
	case !registered || e.Check == nil && len(e.Parameters) == 0:
		return fmt.Errorf("the phases %s have no parameters; omit it", s.Phases)
	case e.Check != nil:
		return e.Check(given)
	case len(given) != len(e.Parameters) || slices.ContainsFunc(given, notFinite):
		return fmt.Errorf("the phases %s need finite parameters, the same number as in %v", s.Phases, e.Parameters)
	}
	return nil
}

// init registers the estimators of package engine, with the equations that Method.Explain writes.
func init() {
	const bound = "the bound $\\hat L = \\log \\frac1S \\sum_k \\omega_k$, $\\omega_k = p(x,h_k)/q(h_k|x)$, with the normalised weights $v_k$:\n\n" +
		"$$\\nabla_\\theta = \\sum_k v_k \\nabla \\log p(x,h_k), \\qquad \\nabla_\\phi = \\sum_k (\\hat L - v_k - c_k) \\nabla \\log q(h_k|x),$$\n\n"
	withoutParameters := func(e *engine.Estimator) func(_, logP, logQ, p, q []float64) {
		return func(_, logP, logQ, p, q []float64) { e.Weigh(logP, logQ, p, q) }
	}
	RegisterPhases("vimco", Estimator{
		Weigh: withoutParameters(engine.VIMCO(false)), Samples: 2,
		Text:   "Both networks ascend " + bound + "where $c_k$ is $\\hat L$ with $\\omega_k$ replaced by the geometric mean of the other weights.",
		Source: "Mnih and Rezende 2016",
	})
	RegisterPhases("vimco-arithmetic", Estimator{
		Weigh: withoutParameters(engine.VIMCO(true)), Samples: 2,
		Text:   "Both networks ascend " + bound + "where $c_k$ is $\\hat L$ with $\\omega_k$ replaced by the arithmetic mean of the other weights.",
		Source: "Mnih and Rezende 2016",
	})
	RegisterPhases("ovis", Estimator{
		Weigh: func(γ, logP, logQ, p, q []float64) { engine.OVIS(γ[0]).Weigh(logP, logQ, p, q) }, Samples: 2,
		Parameters: []float64{1},
		Check: func(given []float64) error {
			if len(given) != 1 || !(given[0] >= 0 && given[0] <= 1) {
				return errors.New("use one number γ between 0, for few effective samples, and 1, for many")
			}
			return nil
		},
		Text:   "Both networks ascend " + bound + "where $c_k = \\log \\hat Z_{-k} - \\gamma v_k + (1-\\gamma) \\log(1 - 1/S)$ and $\\hat Z_{-k}$ is the mean of the other weights. In the mean, $\\nabla_\\phi$ is the gradient of the bound plus $\\gamma$ times $\\sum_k v_k \\nabla \\log q(h_k|x)$, the q-wake gradient of RWS.",
		Source: "Liévin, Dittadi, Christensen and Winther 2020, 17",
	})
	RegisterPhases("tvo", Estimator{
		Weigh: func(partition, logP, logQ, p, q []float64) { engine.TVO(partition).Weigh(logP, logQ, p, q) }, Samples: 2,
		Parameters: []float64{0, 0.08, 0.15, 0.28, 0.53},
		Check: func(given []float64) error {
			if len(given) == 0 || given[0] != 0 || given[len(given)-1] >= 1 || !slices.IsSorted(given) || len(slices.Compact(slices.Clone(given))) < len(given) {
				return errors.New("use a partition of [0, 1]: increasing numbers from 0 to less than 1, such as 0 0.1 0.5")
			}
			return nil
		},
		Text: "Both networks ascend the thermodynamic objective\n\n$$\\sum_i (\\beta_{i+1} - \\beta_i)\\, E_i\\!\\left[\\log \\frac{p(x,h)}{q(h|x)}\\right],$$\n\n" +
			"a left Riemann sum over the partition of $[0, 1]$, where $E_i$ is the mean under $p^{\\beta_i} q^{1-\\beta_i}$, estimated with self-normalised weights.",
		Source: "Masrani, Le and Wood 2019",
	})
}
