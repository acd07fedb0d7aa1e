package hm

import (
	"strings"
	"testing"
)

// Each method must be explained with its settings and its source, in complete equations.
func TestMethodsAreExplained(t *testing.T) {
	for _, name := range Presets() {
		m, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		text := m.LearningRate(0.125).Damping(0.375).RefreshEvery(77).Samples(6).Epochs(9).Explain()
		for part, is := range map[string]bool{
			`S = 6`: true, `\eta = 0.125`: true, "9 epochs": true, "Source: ": true,
			`\alpha = 0.375`: m.spec.Metric != Euclidean, `K = 77`: m.spec.Metric != Euclidean,
			`\sqrt{`: m.spec.Phases == Bidirectional, "dreams": m.spec.algorithm(1).HasSleep(),
		} {
			if strings.Contains(text, part) != is {
				t.Errorf("%s: %q is in the explanation, or is not: %s", name, part, text)
			}
		}
		if strings.Count(text, "$")%2 != 0 || strings.Count(text, "{") != strings.Count(text, "}") || strings.Contains(text, "%!") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// The explanation has the factor of the sleep gradient that training uses.
func TestRescaledSleepIsExplained(t *testing.T) {
	for part, m := range map[string]Method{
		"= 2 \\nabla \\log q": WS().SleepScale(2), "0.5 times the q-wake and 1 times": RWS().SleepScale(2), "= \\nabla \\log q": WS(),
		"by 1.5 times the gradient": preset(string(best)).SleepScale(3),
	} {
		if text := m.Explain(); !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

func TestRegularisersAreExplained(t *testing.T) {
	text := RWS().L1(0.1).L2(0.25).Entropy(2).EntropyEstimator(3).WarmUp(7).Explain()
	for _, part := range []string{`$0.1\,\mathrm{sign}(w) + 0.25\,w$ is subtracted`, "2 times the gradient of the units' conditional entropies", "3 times an estimator", "over 7 epochs"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
		if plain := RWS().Explain(); strings.Contains(plain, part) {
			t.Errorf("%q is in %s", part, plain)
		}
	}
}

// The source must be that of the phases and the metric, also if they are not those of the preset.
func TestSourceOfAMethod(t *testing.T) {
	for _, c := range []struct{ changed, preset Method }{
		{RWS().Phases(Bidirectional), BiHM()}, {RWS().Metric(Block), NRWS()}, {NRWS().Phases(VIMCO().Spec().Phases), VIMCO()},
	} {
		_, want, _ := strings.Cut(c.preset.Explain(), "Source: ")
		if text := c.changed.Explain(); !strings.HasSuffix(text, "Source: "+want) {
			t.Errorf("the explanation does not end in the source %s: %s", want, text)
		}
	}
}

func TestAMachineIsExplained(t *testing.T) {
	text := New(shape(2, 3)).Dense(3, 2).Explain()
	for _, part := range []string{
		`p(x, h) = p(x|h^{1})\,p(h^{1}|h^{2})\,p(h^{2})`, `q(h|x) = q(h^{1}|x)\,q(h^{2}|h^{1})`, `x_{(6)} \;`, `h^{2}_{(2)}$$`,
		// 6×(3+1) + 3×(2+1) + 2 of p, 3×(6+1) + 2×(3+1) of q
		"64 parameters",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the explanation lacks %q: %s", part, text)
		}
	}
	if text := New(shape(2, 3)).Explain(); !strings.Contains(text, "without hidden layers") {
		t.Errorf("a machine without hidden layers is explained by %s", text)
	}
	valid := New(shape(2, 3)).Dense(3)
	for says, m := range map[string]Machine{
		"unknown coding 9":         valid.Coding(9),
		"unknown initialization 9": valid.Weights(9),
		"unknown label layer 9":    valid.Labels(9, 2),
	} {
		if text := m.Explain(); !strings.Contains(text, says) || m.String() != text || len(m.Table().Rows()) != 0 {
			t.Errorf("a machine with the error %q is explained by %s, described by %v, and has the table\n%v", says, text, m, m.Table())
		}
	}
}
