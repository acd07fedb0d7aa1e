package hm

import (
	"os"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// NRWS learns faces in grey levels with Gaussian visible units, and as probabilities of draws with
// Bernoulli units: log p of held-out rows must rise. The first is the logarithm of a density, the
// second of a probability, so they are not comparable. The output shows the likelihoods and a
// sample of each.
func TestFaces(t *testing.T) {
	if os.Getenv(dataset.Environment) == "" {
		t.Skip(dataset.Environment + " is not set: nothing is trained on faces")
	}
	for _, c := range []struct {
		name         string
		binarization dataset.Binarization
		visible      Kind
		rate         float64
	}{{"Gaussian", dataset.Gray, Gaussian, 0.001}, {"Bernoulli", dataset.Stochastic, Bernoulli, 0.01}} {
		t.Run(c.name, func(t *testing.T) {
			set, err := dataset.Spec{Name: "freyfaces", Binarization: c.binarization}.Open()
			if err != nil {
				t.Fatal(err)
			}
			machine := New(set.Shape()).Dense(50, 20).Units(c.visible, Bernoulli, Bernoulli)
			run, err := NRWS().LearningRate(c.rate).RefreshEvery(50).Epochs(4).Train(t.Context(), machine, set, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			epochs := run.History().Epochs
			for _, e := range epochs {
				t.Logf("epoch %d: log p %.1f in training, %.1f nats held out", e.Epoch, e.Train["log_p"], e.Validation["log_p"])
			}
			if first, last := epochs[0].Validation["log_p"], epochs[len(epochs)-1].Validation["log_p"]; !(last > first) {
				t.Errorf("log p of the rows held out goes from %.1f to %.1f nats", first, last)
			}
			sheet, err := run.Means(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + inLetters(sheet.Values[0], set.Shape()))
		})
	}
}

// inLetters draws an image with letters as grey levels, from dark to light.
func inLetters(values []float64, shape dataset.Shape) string {
	const letters = " .:-=+*#%@"
	var text strings.Builder
	for k, v := range values {
		level := int(min(max(v, 0), 0.999) * float64(len(letters)))
		text.WriteString(strings.Repeat(letters[level:level+1], 2))
		if (k+1)%shape.Width == 0 {
			text.WriteByte('\n')
		}
	}
	return text.String()
}
