package thesis

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

var arithmetic = row{
	cells:   slices.Concat(inBoth("NRWS", mnistNRWS), inBoth("RWS", mnistRWS)),
	numbers: []number{besideArithmetic("NRWS"), besideArithmetic("RWS")},
	claims: []claim{
		judged("NRWS ends alike in fixed point and in float32.", askAlike("NRWS")),
		judged("RWS ends alike in fixed point and in float32.", askAlike("RWS")),
	},
	figures: ofCells("binarised MNIST, fixed point and float32"),
}

func inBoth(method string, of plan) []cell {
	of.laptop, of.full, of.part = 5, 200, 0
	fixed, float := of, of
	fixed.name, fixed.float32 = of.name+"-fixed", false
	float.name = of.name + "-float32"
	return []cell{{method + ", fixed point", fixed, 0}, {method + ", float32", float, 0}}
}

func (c *comparison) fixedOver(method string) gain {
	return c.over(method+", fixed point", method+", float32")
}

func besideArithmetic(method string) number {
	return func(c *comparison) {
		g := c.fixedOver(method)
		c.Beside(method+", fixed point − float32", "difference of log p", reproduce.Value{Ours: g.nats, SE: &g.se, Seeds: 1})
	}
}

func askAlike(method string) ask {
	return func(c *comparison, j *judgement) {
		g := c.fixedOver(method)
		if c.of(method + ", fixed point")[0].run.Experiment().Method.Arithmetic != hm.FixedPoint {
			j.undecided("the engine in use has no fixed point")
		}
		j.add(g.of("fixed point − float32").Within(0.2))
	}
}
