package hm

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Phases are the importance weights and the phases of a method.
type Phases int

const (
	// WakeSleep weighs samples equally and trains q on dreams alone.
	WakeSleep Phases = iota
	// ReweightedWakeSleep weighs samples by p/q (Várady 2025, 2.28) and trains q by
	// half the sum of the q-wake and the sleep gradient (Várady 2025, 2.32).
	ReweightedWakeSleep
	// Bidirectional weighs samples by √(p/q) (Várady 2025, 2.37) and trains q by the
	// q-wake gradient.
	Bidirectional
	// Reinforce weighs samples equally and trains q, as p, by the gradient of
	// the bound E_q[log p(x,h) − log q(h|x)]: by the q-wake gradient with
	// log p(x,h) − log q(h|x) − b for weights (Várady 2025, 2.3.3).
	Reinforce
)

var (
	phaseNames = names.New("phases", "ws", "rws", "bihm", "reinforce")
	rules      = map[Phases]engine.Rule{WakeSleep: engine.WakeSleep, ReweightedWakeSleep: engine.ReweightedWakeSleep, Bidirectional: engine.Bidirectional, Reinforce: engine.Reinforce}
)

func (p Phases) String() string                { return phaseNames.Name(int(p)) }
func (p Phases) MarshalText() ([]byte, error)  { return phaseNames.Marshal(int(p)) }
func (p *Phases) UnmarshalText(t []byte) error { return phaseNames.Parse((*int)(p), t) }
