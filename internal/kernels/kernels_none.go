//go:build (!amd64 && !arm64) || purego

package kernels

import "github.com/helmholtz-go/helmholtz/internal/philox"

// supportedSets returns the only instruction set of this build: the vector kernels below are never
// called.
func supportedSets() []instructionSet { return []instructionSet{portable} }

const noVectors = "kernels: this build has no vector kernels"

func (instructionSet) lanes() int { panic(noVectors) }

func (instructionSet) productPanel(c, a, b *float32, rows, depth, strideC, rowStrideA, depthStrideA, strideB, vectors, lastLanes int, alpha, beta float32) {
	panic(noVectors)
}

func (instructionSet) outer(c, a, b *float64, depth, stride int) { panic(noVectors) }

func (instructionSet) transpose(to, from []float32, rows, depth, strideTo, strideFrom int) {
	panic(noVectors)
}

func (instructionSet) gather(to, from Matrix, rows []int32, weights []float32) {
	portableGather(to, from, rows, weights)
}

func (instructionSet) addMultiple(x []float32, by float32, y []float32) {
	portableAddMultiple(x, by, y)
}

func (instructionSet) draw(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) {
	panic(noVectors)
}

func (instructionSet) residual(logits, states []float32) float64 { panic(noVectors) }

func (instructionSet) score(logits, states []float32) float64 { panic(noVectors) }

func (instructionSet) drawScore(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	panic(noVectors)
}

func (instructionSet) drawResidual(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	panic(noVectors)
}

func (instructionSet) symmetricStrip32(y, x, blocks []float32, strip int) { panic(noVectors) }

func (instructionSet) symmetricStrip16(y, x []float32, blocks []int16, scales []float32, strip int) {
	panic(noVectors)
}
