// Live computes the contents of the site's live page (docs/live.md) in WebAssembly: a pretrained machine that
// dreams and fills in hidden pixels, and two small machines in training. Built for other systems, it writes the
// model file of the pretrained machine.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// machine is the pretrained machine of the page.
const machine = "miniglyphs-bihm"

type page struct {
	model *hm.Model
	rows  dataset.Split // that the machine has not seen
	race  map[string]*racer
}

// calls are the functions that the page calls by name, with their arguments and results as JSON.
var calls = map[string]func(*page, []byte) (any, error){
	"dream": with((*page).dream),
	"fill":  with((*page).fill),
	"begin": with((*page).begin),
	"epoch": with((*page).epoch),
}

func with[Arguments, Result any](f func(*page, Arguments) (Result, error)) func(*page, []byte) (any, error) {
	return func(p *page, text []byte) (any, error) {
		var a Arguments
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, err
		}
		return f(p, a)
	}
}

// load returns a page for a model file, with the test rows of the data that the model was trained on.
func load(model []byte) (*page, error) {
	m, err := hm.LoadModel(bytes.NewReader(model))
	if err != nil {
		return nil, err
	}
	set, err := dataset.Open("miniglyphs")
	if err != nil {
		return nil, err
	}
	return &page{model: m, rows: set.Test()}, nil
}

type shape struct {
	Width  int   `json:"width"`
	Height int   `json:"height"`
	Hidden []int `json:"hidden"` // units of the hidden layers, the lowest first
	Rows   int   `json:"rows"`
}

func (p *page) shape() shape {
	s := p.rows.Shape
	return shape{s.Width, s.Height, p.model.Architecture().Units[1:], p.rows.Rows}
}

// held is a hidden unit that the reader holds on or off.
type held struct {
	Layer int  `json:"layer"` // counted from 1, the lowest
	Unit  int  `json:"unit"`
	On    bool `json:"on"`
}

type dreamOptions struct {
	Seed   uint64 `json:"seed"`
	Images int    `json:"images"`
	Held   []held `json:"held"`
}

// dream draws images from the machine, and returns the means of their pixels.
func (p *page) dream(o dreamOptions) ([][]float64, error) {
	m := p.model.WithSeed(o.Seed)
	for _, h := range o.Held {
		var err error
		if m, err = m.Held(h.Layer, h.Unit, h.On); err != nil {
			return nil, err
		}
	}
	sheet, err := m.Means(context.Background(), o.Images)
	return sheet.Values, err
}

type fillOptions struct {
	Row    int    `json:"row"`
	Hidden []bool `json:"hidden"` // pixels
	Sweeps int    `json:"sweeps"`
	Chains int    `json:"chains"`
	Seed   uint64 `json:"seed"`
}

// filled is an image, and the images in which Gibbs chains on p* have filled in its hidden pixels.
type filled struct {
	Image  []float64   `json:"image"`
	Chains [][]float64 `json:"chains"`
}

// fill runs Gibbs chains from the beginning. With the same seed, a longer chain begins like a shorter one.
func (p *page) fill(o fillOptions) (filled, error) {
	if o.Row < 0 || o.Row >= p.rows.Rows {
		return filled{}, fmt.Errorf("row %d: there are the rows 0 to %d", o.Row, p.rows.Rows-1)
	}
	row := dataset.Split{Name: p.rows.Name, Shape: p.rows.Shape, Values: p.rows.Part(o.Row, o.Row+1)}
	in, err := p.model.WithSeed(o.Seed).Inpaint(context.Background(), row, o.Hidden, o.Chains, hm.Chain{Sweeps: o.Sweeps, Candidates: 20}, nil)
	if err != nil {
		return filled{}, err
	}
	f := filled{Image: in.Originals.Values[0]}
	for _, chain := range in.Images {
		f.Chains = append(f.Chains, chain.Values[0])
	}
	return f, nil
}

// racer is a small machine in training on the twelve patterns of 3by3.
type racer struct {
	set        *dataset.Set
	experiment hm.Experiment
	learner    runs.Learner
	steps      int // per epoch
	done       int
}

// The machines of the race, and their data.
const (
	raceRows    = 600
	raceBatch   = 20
	raceSamples = 10
)

type beginOptions struct {
	Rates map[string]float64 `json:"rates"` // learning rates by preset: rws, nrws
}

// begin sets up machines with the same first parameters and data but different methods. It returns the
// divergences of the first parameters.
func (p *page) begin(o beginOptions) (map[string]divergence, error) {
	set, err := dataset.Spec{Name: "3by3", Subset: raceRows}.Open()
	if err != nil {
		return nil, err
	}
	small := hm.New(set.Shape()).Dense(6, 3)
	race := map[string]*racer{}
	for preset, rate := range o.Rates {
		method, found := map[string]hm.Method{"rws": hm.RWS(), "nrws": hm.NRWS().Damping(0.1).RefreshEvery(10)}[preset]
		if !found {
			return nil, fmt.Errorf("no method %q: give rws or nrws", preset)
		}
		e := method.LearningRate(rate).BatchSize(raceBatch).Samples(raceSamples).Experiment(small, set)
		if err := e.Check(set); err != nil {
			return nil, err
		}
		first, err := e.Begin(set)
		if err != nil {
			return nil, err
		}
		learner, err := e.Learner(set, first)
		if err != nil {
			return nil, err
		}
		race[preset] = &racer{set, e, learner, (set.Train().Rows + raceBatch - 1) / raceBatch, 0}
	}
	p.race = race
	return p.divergences()
}

// divergence tells how far p is from the distribution of the training rows, in nats.
type divergence struct {
	Exact    float64 `json:"exact"`    // KL(data‖p), by enumeration
	Estimate float64 `json:"estimate"` // the same, with log p by ten importance samples
}

func (p *page) epoch(struct{}) (map[string]divergence, error) {
	if p.race == nil {
		return nil, fmt.Errorf("no machine is in training: call begin first")
	}
	for preset, r := range p.race {
		for left := r.steps; left > 0; {
			taken, err := r.learner.Steps(context.Background(), left, func(int) float64 { return r.experiment.LearningRate(r.done, r.steps) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strings.ToUpper(preset), err)
			}
			left -= len(taken)
			r.done += len(taken)
		}
	}
	return p.divergences()
}

func (p *page) divergences() (map[string]divergence, error) {
	all := map[string]divergence{}
	for preset, r := range p.race {
		d, err := r.divergence()
		if err != nil {
			return nil, err
		}
		all[preset] = d
	}
	return all, nil
}

func (r *racer) divergence() (divergence, error) {
	snapshot, err := r.learner.Snapshot()
	if err != nil {
		return divergence{}, err
	}
	model, err := runs.ModelOf(r.experiment, snapshot)
	if err != nil {
		return divergence{}, err
	}
	m := model.(*hm.Model)
	rows := r.set.Train()
	kl, err := m.ExactKL(context.Background(), rows)
	if err != nil {
		return divergence{}, err
	}
	e, err := m.WithSeed(uint64(r.done)).Evaluate(context.Background(), rows, raceSamples, nil)
	return divergence{kl, -entropy(rows) - float64(e.LogP)}, err
}

// entropy returns the entropy of the distribution of rows, in nats.
func entropy(rows dataset.Split) float64 {
	counts := map[string]int{}
	for r := range rows.Rows {
		counts[string(rows.Row(r))]++
	}
	h := 0.0
	for _, n := range counts {
		share := float64(n) / float64(rows.Rows)
		h -= share * math.Log(share)
	}
	return h
}
