package thesis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/factors/autoencoder"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// discrete is a gradient estimator of an autoencoder with linear networks and six Bernoulli variables.
type discrete struct {
	name   string
	latent autoencoder.Latent
	τ      float64
}

func relaxed(τ float64) discrete {
	return discrete{fmt.Sprintf("Gumbel-softmax, τ = %g", τ), autoencoder.GumbelSoftmax, τ}
}

var (
	straightThrough   = discrete{"straight-through", autoencoder.StraightThrough, 1}
	discreteGradients = []discrete{straightThrough, relaxed(2), relaxed(1), relaxed(0.5), relaxed(0.25)}
	discreteTrained   = []discrete{straightThrough, relaxed(0.5)}
)

func (d discrete) training(η float64, samples, batch int) training {
	return onGrid(fmt.Sprintf("discrete-%v-%g-lr-%g", d.latent, d.τ, η), d.name, "float32", 30, 5, fits(autoencoder.Family,
		func(s *autoencoder.Settings) { s.BatchSize = min(s.BatchSize, 200) }, func(s *autoencoder.Settings) {
			s.Hidden, s.Code, s.Latent, s.Temperature = []int{}, 6, d.latent, d.τ
			s.LearningRate, s.Samples, s.BatchSize = η, samples, batch
		}))
}

const gradientSamples = 10

// gradients returns a training run that draws the gradient of all rows again in each epoch, at a rate that moves no parameter.
func (d discrete) gradients() training {
	p := d.training(1e-12, gradientSamples, 18_000)
	p.laptop, p.full, p.seeds, p.falls = 100, 100, 1, true
	for epoch := range p.full {
		p.keep = append(p.keep, epoch+1)
	}
	return p
}

func scoreFunction(η float64) plan {
	return gridMachine(fmt.Sprintf("discrete-score-function-lr-%g", η), hm.REINFORCE().LearningRate(η).Samples(5), 6)
}

func discreteTrainings(s reproduce.Scale) (all []reproduce.Training) {
	for _, d := range discreteGradients {
		all = append(all, d.gradients().at(s))
	}
	for _, η := range linesRates {
		for _, d := range discreteTrained {
			all = append(all, d.training(η, 5, 100).at(s))
		}
		all = append(all, scoreFunction(η).at(s))
	}
	return all
}

// summed holds what sums over all states of the latent variables give for an autoencoder with linear networks.
type summed struct {
	Gradient []float64 // of the ELBO by the encoder, mean over the rows
	Noise    float64   // variance of the score function by one draw with the best baseline of each row, mean over the rows
	LogP     []float64 // of each row
}

func tensorsOf(of runs.Snapshot) map[string][]float64 {
	all := map[string][]float64{}
	for _, t := range of.Tensors {
		all[t.Name] = kernels.Doubles(t.Data)
	}
	return all
}

func enumerate(of runs.Snapshot, rows [][]float64) (e summed) {
	all, n := tensorsOf(of), float64(len(rows))
	prior := all["prior"]
	affine := func(network string, x []float64) []float64 {
		y := slices.Clone(all[network+".0.biases"])
		for i, v := range x {
			floats.AddScaled(y, v, all[network+".0.weights"][i*len(y):][:len(y)])
		}
		return y
	}
	logP := func(x, logits []float64) (sum float64) {
		for i, a := range logits {
			sum += x[i]*a - statistics.Softplus(a)
		}
		return sum
	}
	e.Gradient = make([]float64, (len(rows[0])+1)*len(prior))
	for _, x := range rows {
		a, gradient, joints := affine("encoder", x), make([]float64, len(prior)), []float64(nil)
		var size, signal, square float64 // moments of the signal, weighted by the squared length of the score
		for state := range 1 << len(prior) {
			z, score := make([]float64, len(prior)), make([]float64, len(prior))
			for j := range z {
				z[j] = float64(state >> j & 1)
				score[j] = z[j] - statistics.Sigmoid(a[j])
			}
			joint, logQ := logP(x, affine("decoder", z))+logP(z, prior), logP(z, a)
			q, f, length := math.Exp(logQ), joint-logQ, floats.Dot(score, score)
			size, signal, square = size+q*length, signal+q*length*f, square+q*length*f*f
			floats.AddScaled(gradient, q*f, score)
			joints = append(joints, joint)
		}
		inputs := append(slices.Clone(x), 1)
		e.Noise += (square - signal*signal/size - floats.Dot(gradient, gradient)) * floats.Dot(inputs, inputs) / n
		e.LogP = append(e.LogP, floats.LogSumExp(joints))
		for i, v := range inputs {
			floats.AddScaled(e.Gradient[i*len(gradient):][:len(gradient)], v/n, gradient)
		}
	}
	return e
}

// drawnGradients returns the bias of an estimator and the square of its noise, by each drawn gradient, in units of the exact gradient.
// In each step, Adam's running mean goes a tenth of the way to the gradient.
func (w *work) drawnGradients(d discrete, exact []float64) (bias, noise []float64) {
	run := must(runs.Open(w.dirs(d.gradients())[0]))
	n, length, draws := float64(run.Epochs()), floats.Norm(exact, 2), float64(w.setOf(run).Train().Rows*gradientSamples)
	var gradients [][]float64 // less the exact one; off is their mean
	before, off := make([]float64, len(exact)), floats.ScaleTo(make([]float64, len(exact)), -1, exact)
	for epoch := range run.Epochs() {
		now := tensorsOf(must(run.At(epoch + 1)))["adam.mean"][:len(exact)]
		g := floats.AddScaledTo(make([]float64, len(exact)), now, 9, floats.SubTo(before, now, before))
		floats.AddScaled(off, 1/n, g)
		gradients, before = append(gradients, floats.SubTo(g, g, exact)), now
	}
	for _, g := range gradients {
		distance := floats.Distance(g, off, 2) / length
		bias, noise = append(bias, floats.Dot(g, off)/floats.Norm(off, 2)/length), append(noise, distance*distance*draws*n/(n-1))
	}
	return bias, noise
}

func makeDiscrete(w *work) {
	rows, by := w.open(wholeGrid).Test().Floats(), "64 states of the variables for each of 18 rows"
	e := enumerate(must(must(runs.Open(w.dirs(straightThrough.gradients())[0])).At(1)), rows)
	length, least := floats.Norm(e.Gradient, 2), math.Sqrt(e.Noise)/floats.Norm(e.Gradient, 2)
	w.Found("exact gradient", "length", reproduce.Value{Ours: length, Seeds: 1, By: by})
	w.Found("score function, noise", "ratio", reproduce.Value{Ours: least, Seeds: 1, By: by})
	quiet := []*judgement{w.claim("Straight-through has less noise than the score function."), w.claim("Relaxed draws have less noise than the score function.")}
	colder := w.claim("As the temperature falls, relaxed draws lose bias and gain noise.")
	var warmBias, warmNoise []float64
	for k, d := range discreteGradients {
		bias, squares := w.drawnGradients(d, e.Gradient)
		found := func(what string, x, se float64) {
			w.Found(d.name+", "+what, "ratio", reproduce.Value{Ours: x, SE: &se, Seeds: 1, By: fmt.Sprintf("%d gradients, %d draws of each row", len(bias), gradientSamples)})
		}
		found("bias", mean(bias), sd(bias)/math.Sqrt(float64(len(bias))))
		square, se := statistics.MeanAndErrorOf(squares)
		noise := math.Sqrt(square)
		se /= 2 * noise
		found("noise", noise, se)
		quiet[min(k, 1)].add(reproduce.Measured(least-noise, se, "", "%s: noise of the score function less its own", d.name).Over(0))
		if k > 1 {
			lost, gained := paired(warmBias, bias), paired(squares, warmNoise)
			colder.add(reproduce.Measured(lost.nats, lost.se, "", "bias lost from τ = %g to %g", discreteGradients[k-1].τ, d.τ).Over(0),
				reproduce.Measured(gained.nats, gained.se, "", "variance gained").Over(0))
		}
		warmBias, warmNoise = bias, squares
	}
	score := w.reachByMachine("score function", scoreFunction)
	for k, d := range discreteTrained {
		of := w.reach(d.name, linesRates, func(η float64) []float64 {
			return each(w.dirs(d.training(η, 5, 100)), func(dir string) float64 {
				return mean(enumerate(must(must(runs.Open(dir)).Checkpoint("last")), rows).LogP)
			})
		})
		if k == 0 {
			score.over(w.claim("The score function ends above straight-through."), of)
		} else {
			of.over(w.claim("Relaxed draws end above the score function."), score)
		}
	}
}
