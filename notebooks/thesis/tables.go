package thesis

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// cell is a number of a table of test log p: that of a training, after all of its
// epochs or a part.
type cell struct {
	number string // of the criteria
	plan   plan
	part   float64 // 0 is all
}

// plansOf are the trainings of a table's cells, each once.
func plansOf(cells []cell) []plan {
	var plans []plan
	seen := map[string]bool{}
	for _, c := range cells {
		if !seen[c.plan.name] {
			seen[c.plan.name] = true
			plans = append(plans, c.plan)
		}
	}
	return plans
}

// cells finds log p of each, and where the criteria have it log p̃*, and returns the
// evaluations by number.
func (w *work) cells(all []cell) (map[string][]evaluation, error) {
	found := map[string][]evaluation{}
	for _, c := range all {
		epochs := c.plan.epochs(w.Scale)
		if c.part > 0 {
			epochs = partOf(c.part, epochs)
		}
		of, err := w.trainedAt(c.plan.name, c.number, epochs)
		if err != nil {
			return nil, err
		}
		if found[c.number], err = w.evaluate(of); err != nil {
			return nil, err
		}
		w.found(c.number, "log p", found[c.number], logP)
		if w.Has(c.number, "log p̃*") {
			w.found(c.number, "log p̃*", found[c.number], logPTildeStar)
		}
	}
	return found, nil
}

func logPTildeStar(e hm.Evaluation) (float64, hm.StandardError) {
	return e.LogPTildeStar, e.LogPTildeStarSE
}

// above judges whether log p of a is above that of b by more than twice the standard
// error.
func above(a, b string, of map[string][]evaluation) (reproduce.Verdict, string) {
	return order(scored{a, of[a]}, scored{b, of[b]})
}

// notAbove judges whether it is not.
func notAbove(a, b string, of map[string][]evaluation) (reproduce.Verdict, string) {
	mean, se := difference(of[a], of[b])
	return holdsIf(mean < 2*se), fmt.Sprintf("%s − %s %.3f ± %.3f nats", a, b, mean, se)
}

// within judges whether two are apart by less than some nats.
func within(a, b string, nats float64, of map[string][]evaluation) (reproduce.Verdict, string) {
	mean, se := difference(of[a], of[b])
	return holdsIf(math.Abs(mean) < nats), fmt.Sprintf("%s − %s %.3f ± %.3f nats", a, b, mean, se)
}

// judgement is a verdict with its evidence, in the making: all of what is added has to
// hold.
type judgement struct {
	verdict  reproduce.Verdict
	evidence string
}

func (j *judgement) add(v reproduce.Verdict, evidence string) {
	if j.verdict == "" {
		j.verdict = reproduce.Holds
	}
	j.verdict, j.evidence = both(j.verdict, j.evidence, v, evidence)
}

func (w *work) judge(says string, j judgement) { w.Judge(says, j.verdict, "%s", j.evidence) }

func (w *work) judgeFull(says string, j judgement) { w.JudgeFull(says, j.verdict, "%s", j.evidence) }
