package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// shapes lists tiny machines, the shallowest possible one, and a larger one, which sized trains on
// 20 rows in minibatches of 6 and a last one of 2.
var shapes = [][]int{{3, 2, 2}, {4, 3, 2}, {5, 4}, {20, 12, 7, 5, 3}}

func sized(a engine.Algorithm, p *engine.Parameters) (engine.Algorithm, engine.Data) {
	if p.Architecture.Visible() == 20 {
		a.BatchSize, a.Samples = 6, 5
		return a, randomRows(20, 20)
	}
	return a, randomRows(5, p.Architecture.Visible())
}

// gradientOfSamples compares the plain gradient with the oracle's gradient on the samples that the
// engine has drawn.
func gradientOfSamples(t *testing.T, e engine.Engine) {
	test := func(t *testing.T, a engine.Algorithm) {
		everyCoding(t, func(t *testing.T, p *engine.Parameters) {
			a, data := sized(a, p)
			j := job(a, data)
			trainer := newTrainer(t, e, j, engine.NewState(a, p))
			for s := range 4 {
				g := gradients(t, trainer)
				networks := oracle.NewNetworks(state(t, trainer).Parameters)
				samples := oracleSamples(g, a.Samples)
				if want := len(j.Rows(s)) * a.Samples; g.Wake.Rows != want {
					t.Fatalf("step %d has %d wake samples, want %d", s, g.Wake.Rows, want)
				}
				if (g.Dreams.Rows > 0) != a.HasSleep() {
					t.Fatalf("%d dreams", g.Dreams.Rows)
				}
				wantData(t, g.Wake, data, j.Rows(s), a.Samples)
				wantScores(t, "wake samples", networks, g.Wake)
				wantScores(t, "dreams", networks, g.Dreams)
				wantGradient(t, "plain gradient", g.Plain, networks.GradientOn(samples, rule(a)), 1e-5)
				step(t, trainer, 0.1)
			}
		}, shapes...)
	}
	everyVariant(t, test)
	for _, of := range estimators {
		t.Run(of.name, func(t *testing.T) { test(t, preset{rule: of.rule}.algorithm()) })
	}
}

// wantData checks that the visible layer of each wake sample is the row of its datum.
func wantData(t *testing.T, d engine.Draws, data engine.Data, rows []int, samples int) {
	t.Helper()
	for r := range d.Rows {
		for j := range data.Units {
			on := data.Values[rows[r/samples]*data.Units+j] >= 128
			if (d.States[0][r*data.Units+j] == 1) != on {
				t.Fatalf("unit %d of wake sample %d is not the unit of row %d", j, r, rows[r/samples])
			}
		}
	}
}

func wantScores(t *testing.T, what string, n *oracle.Networks, d engine.Draws) {
	t.Helper()
	tolerance := 1e-6 // for single precision, times the number of nats
	if len(n.Architecture.Kinds) > 0 {
		tolerance = 1e-5 // for values many σ from their means
	}
	for r, v := range values(n.Architecture, d) {
		if want := n.LogJointOf(v); !(math.Abs(d.LogP[r]-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s %d: log p(x,h) is %v, want %v", what, r, d.LogP[r], want)
		}
		if want := n.LogRecognitionOf(v); !(math.Abs(d.LogQ[r]-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s %d: log q(h|x) is %v, want %v", what, r, d.LogQ[r], want)
		}
	}
}

// wantReport compares a report with the means over the minibatch of the estimates from each datum's
// wake samples.
func wantReport(t *testing.T, got engine.Report, d engine.Draws, samples int) {
	t.Helper()
	batch := d.Rows / samples
	var want engine.Report
	for b := range batch {
		first, second, logs := 0.0, 0.0, 0.0
		for r := b * samples; r < (b+1)*samples; r++ {
			l := d.LogP[r] - d.LogQ[r]
			first += math.Exp(l)
			second += math.Exp(2 * l)
			logs += l
		}
		s := float64(samples)
		want.LogP += math.Log(first/s) / float64(batch)
		want.Bound += logs / s / float64(batch)
		want.ESS += first * first / second / s / float64(batch)
	}
	for what, pair := range map[string][2]float64{
		"log p": {got.LogP, want.LogP},
		"bound": {got.Bound, want.Bound},
		"ESS":   {got.ESS, want.ESS},
	} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-5*(1+math.Abs(pair[1]))) {
			t.Errorf("%s of the report is %v, of the samples %v", what, pair[0], pair[1])
		}
	}
}
