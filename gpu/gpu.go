// Package gpu provides the engine "cuda", which computes on an NVIDIA GPU. Importing the package
// registers the engine:
//
//	import _ "github.com/helmholtz-go/helmholtz/gpu"
//
// The engine has run on two kinds of GPU, an NVIDIA H100 and an H200 (see the page SPEED.md), and on an emulated
// device; go test ./gpu tests it on the GPU of this machine. It is built with the tag cuda. Without the
// tag, a GPU or its driver, opening the engine returns an error that names the remedy.
package gpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

// lacks lists the features that the engine refuses. The table of docs/gpu.md has the same.
var lacks = []engine.Feature{
	engine.GaussianUnits, engine.TanhLayers, engine.ConvolvedLayers, engine.KroneckerMetric, engine.GibbsChains, engine.FixedArithmetic, engine.MissingUnits,
}
