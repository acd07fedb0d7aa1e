package thesis

import (
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The learning rates and damping factors of 004, figs C.2 and C.3.
var (
	gridRates   = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.04}
	gridDamping = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}
)

// grid are the trainings of NRWS on a set at all rates and damping factors.
func grid(name string, data dataset.Spec, layers []int, laptop, full int) []plan {
	var plans []plan
	for _, η := range gridRates {
		for _, α := range gridDamping {
			plans = append(plans, plan{
				name: fmt.Sprintf("%s-lr-%g-damping-%g", name, η, α), data: data, machine: dense(layers...),
				method: hm.NRWS().LearningRate(η).Damping(α), laptop: laptop, full: full, seeds: 1,
			})
		}
	}
	return plans
}

func miniGrid(reproduce.Scale) []plan { return grid("minimnist-grid", miniMNIST, miniLayers, 2, 50) }
func mnistGrid(reproduce.Scale) []plan {
	return grid("mnist-grid", binarizedMNIST, []int{200, 100, 10}, 2, 50)
}

// best is where a grid's least loss is, and the best rate of each damping factor. The
// losses are drawn.
func (w *work) best(name, title string) (η, α float64, rates []float64, err error) {
	var cells []plotting.Cell
	least := math.Inf(1)
	for _, damping := range gridDamping {
		best, of := math.Inf(1), 0.0
		for _, rate := range gridRates {
			run, err := w.trained(fmt.Sprintf("%s-lr-%g-damping-%g", name, rate, damping), name)
			if err != nil {
				return 0, 0, nil, err
			}
			loss := -curve(run).best()
			cells = append(cells, plotting.Cell{X: rate, Y: damping, Value: loss})
			if loss < best {
				best, of = loss, rate
			}
			if loss < least {
				least, η, α = loss, rate, damping
			}
		}
		rates = append(rates, of)
	}
	return η, α, rates, w.Figure("grid", title+": the least −log p of the validation rows (nats) within the run", plotting.HeatMap("learning rate η", "damping α", "−log p(x) (nats)", cells...))
}

func makeFigC2(w *work) error {
	η, α, rates, err := w.best("minimnist-grid", "NRWS on miniMNIST")
	if err != nil {
		return err
	}
	w.JudgeFull("η and α rise together, up to a point; good values are α 0.005 to 0.1 with η 0.005 to 0.02.",
		holdsIf(slices.IsSorted(rates) && α >= 0.005 && α <= 0.1 && η >= 0.005 && η <= 0.02),
		"best at η %g, α %g; best η of each α, from %g to %g: %v", η, α, gridDamping[0], gridDamping[len(gridDamping)-1], rates)
	return nil
}

func bothGrids(s reproduce.Scale) []plan { return append(mnistGrid(s), miniGrid(s)...) }

func makeFigC3(w *work) error {
	η, α, _, err := w.best("mnist-grid", "NRWS on binarised MNIST, layers of 200, 100 and 10 units")
	if err != nil {
		return err
	}
	least, mini := math.Inf(1), 0.0
	for _, damping := range gridDamping {
		for _, rate := range gridRates {
			run, err := w.trained(fmt.Sprintf("minimnist-grid-lr-%g-damping-%g", rate, damping), "miniMNIST")
			if err != nil {
				return err
			}
			if loss := -curve(run).best(); loss < least {
				least, mini = loss, damping
			}
		}
	}
	w.Judge("The larger the image, the larger the α that is needed.", holdsIf(α > mini), "best at η %g, α %g; on miniMNIST at α %g", η, α, mini)
	return nil
}

// The refreshes of 004, fig. C.5.
var fashionRefreshes = []int{100, 200, 500, 1000, 10000, 100000}

func figC5() []cell {
	var cells []cell
	for _, k := range fashionRefreshes {
		p := fashion(fmt.Sprintf("nrws-refresh-%d", k), hm.NRWS().LearningRate(0.001).Damping(0.1).RefreshEvery(k), 200)
		p.laptop = 4
		cells = append(cells, cell{fmt.Sprintf("K = %d", k), p, 0})
	}
	return cells
}

func makeFigC5(w *work) error {
	all, err := w.curvesOf(figC5(), "")
	if err != nil {
		return err
	}
	tested := map[string][]evaluation{}
	for label, of := range all {
		if tested[label], err = w.evaluate(of); err != nil {
			return err
		}
	}
	var j judgement
	for _, k := range []int{200, 500, 1000} {
		j.add(within(fmt.Sprintf("K = %d", k), "K = 100", 0.5, tested))
	}
	behind, se := difference(tested["K = 100"], tested["K = 100000"])
	j.add(holdsIf(behind > 2), fmt.Sprintf("K = 100000 behind by %.3f ± %.3f nats", behind, se))
	w.judgeFull("K 100,000 breaks down; most others reach the same minimum.", j)
	var drawn [][]trained
	for _, c := range figC5() {
		drawn = append(drawn, all[c.number])
	}
	return w.epochCurves("FashionMNIST, C, NRWS, steps between refreshes", groups(drawn...))
}

func makeTableC1(w *work) error {
	var all [][]trained
	for _, c := range figC5() {
		of, err := w.trained(c.plan.name, c.number)
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	seconds, err := w.secondsAnEpoch(all)
	if err != nil {
		return err
	}
	thousand := seconds[slices.Index(fashionRefreshes, 1000)]
	for i, k := range fashionRefreshes {
		if k != 1000 {
			w.Found(fmt.Sprintf("K %d over K 1000", k), "ratio", ratio(seconds[i], thousand))
		}
	}
	w.JudgeFull("The time saved is a reason to prefer large K.", holdsIf(thousand < 0.8*seconds[0]), "seconds at K 1000 over those at K 100: %.3f", thousand/seconds[0])
	return nil
}

// The damping factors of 004, fig. C.1.
var smallDamping = []float64{0.0001, 0.001, 0.01, 0.1, 1}

// threeByThree are the trainings of fig. C.1; each keeps its first epoch and its last
// ten.
func threeByThree(reproduce.Scale) []plan {
	of := func(name string, method hm.Method) plan {
		return plan{
			name: "3by3-" + name, data: dataset.Spec{Name: "3by3"}, machine: dense(6, 3).Coding(hm.ZeroOne).Bias(0.1),
			method: method.LearningRate(0.02), laptop: 20, full: 100, seeds: 5, lastKept: 10,
		}
	}
	plans := []plan{of("ws", hm.WS())}
	for _, α := range smallDamping {
		plans = append(plans, of(fmt.Sprintf("nws-damping-%g", α), hm.NWS().Damping(α)))
	}
	return plans
}

func makeFigC1(w *work) error {
	epochs := w.epochsOf("3by3-ws")
	ten := min(10, epochs)
	type divergence struct {
		first, last float64 // exact KL, means over seeds
		noise       float64 // sd over the last epochs, mean over seeds
	}
	of := func(name string) (divergence, []trained, error) {
		at := func(epoch int) ([]float64, error) {
			all, err := w.trainedAt(name, name, epoch)
			if err != nil {
				return nil, err
			}
			var values []float64
			for _, t := range all {
				kl, err := reproduce.KeptOf(w.Work, "exact-kl", t.snapshot, func() (float64, error) {
					set, err := w.dataset(t)
					if err != nil {
						return 0, err
					}
					return t.model.ExactKL(w.ctx, set.Train())
				})
				if err != nil {
					return nil, err
				}
				values = append(values, kl)
			}
			return values, nil
		}
		mean := func(values []float64) float64 {
			return runs.SpreadOf(values, func(x float64) float64 { return x }).Mean
		}
		first, err := at(1)
		if err != nil {
			return divergence{}, nil, err
		}
		late := make([][]float64, len(first))
		var last []float64
		for epoch := epochs - ten + 1; epoch <= epochs; epoch++ {
			if last, err = at(epoch); err != nil {
				return divergence{}, nil, err
			}
			for seed, kl := range last {
				late[seed] = append(late[seed], kl)
			}
		}
		noise := runs.SpreadOf(late, func(of []float64) float64 { return runs.SpreadOf(of, func(x float64) float64 { return x }).SD }).Mean
		drawn, err := w.trained(name, name)
		return divergence{mean(first), mean(last), noise}, drawn, err
	}
	ws, drawn, err := of("3by3-ws")
	if err != nil {
		return err
	}
	drawn[0].history.Name = "WS"
	all := [][]trained{drawn}
	found := map[float64]divergence{}
	var evidence judgement
	evidence.add(reproduce.Holds, fmt.Sprintf("exact KL in nats after one epoch, after %d, sd over the last %d: WS %.4f, %.4f, %.4f", epochs, ten, ws.first, ws.last, ws.noise))
	lowest, noisiest := true, true
	for _, α := range smallDamping {
		d, drawn, err := of(fmt.Sprintf("3by3-nws-damping-%g", α))
		if err != nil {
			return err
		}
		drawn[0].history.Name = fmt.Sprintf("NWS, α = %g", α)
		all, found[α] = append(all, drawn), d
		if α != smallDamping[0] {
			lowest = lowest && found[smallDamping[0]].first < d.first
			noisiest = noisiest && found[smallDamping[0]].noise > d.noise
		}
		evidence.add(reproduce.Holds, fmt.Sprintf("α %g %.4f, %.4f, %.4f", α, d.first, d.last, d.noise))
	}
	factor := math.Max(found[1].last/ws.last, ws.last/found[1].last)
	holds := factor < 1.5 && lowest && noisiest && found[0.001].last < ws.last && found[0.01].last < ws.last && found[0.1].last < ws.last
	w.JudgeFull("Large α behaves like WS; very small α converges almost at once and stays noisy; α 0.001 to 0.1 beats WS.", holdsIf(holds), "%s", evidence.evidence)
	return w.epochCurves("3by3, WS and NWS", groups(all...))
}
