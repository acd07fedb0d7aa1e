//go:build cuda

package gpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

const name = "cuda"

func init() { engine.Register(name, open) }

type cuda struct{ device *device }

func open() (engine.Engine, error) {
	d, err := findDevice()
	if err != nil {
		return nil, &engine.DeviceError{Err: err}
	}
	return &cuda{d}, nil
}

func (e *cuda) Describe() string { return e.device.describe() }

func (e *cuda) Lacks() []engine.Feature { return lacks }

func refuse(asked ...engine.Feature) error { return engine.Refuse(name, lacks, asked) }

func (e *cuda) Available() (int64, string) { return e.device.memory, "the device" }

// Memory returns the bytes that a trainer, and evaluations between its steps, allocate on the device.
func (e *cuda) Memory(arch engine.Architecture, a engine.Algorithm) int64 {
	m, l := e.planned(arch, a), newLayout(arch)
	evaluation := &session{model: &model{layout: l}, memory: m, parameters: m.floats(l.size)}
	newClasses(m, evaluation.newImportance(engine.Data{}, piece{rowsAPass, 1}).pass)
	return m.bytes
}

// Check returns an error if Fisher blocks or arrays would be too large for the kernels.
func (e *cuda) Check(arch engine.Architecture, a engine.Algorithm) error {
	return e.planned(arch, a).err
}

// planned returns the memory of a trainer, without allocating it.
func (e *cuda) planned(arch engine.Architecture, a engine.Algorithm) *memory {
	m := &memory{}
	newTrainer(m, e.device.mostBlocks(), engine.Job{Algorithm: a}, arch)
	return m
}

func (e *cuda) MetricBlocks(arch engine.Architecture, a engine.Algorithm) (ofGenerative, ofRecognition []engine.Blocks) {
	blocks := [2][]engine.Blocks{make([]engine.Blocks, len(arch.Units)), make([]engine.Blocks, len(arch.Units))}
	newLayout(arch).each(func(n network, i int, of layer) {
		blocks[n][i] = describeBlocks(a, of, blockSamples(n, i, a.BatchSize, a.MostSamples()))
	})
	return blocks[generative], blocks[recognition]
}
