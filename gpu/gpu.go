// Package gpu provides the engine "cuda", which computes on an NVIDIA GPU. Importing the package
// registers the engine:
//
//	import _ "github.com/helmholtz-go/helmholtz/gpu"
//
// The engine has passed its tests on an emulated device, but has not run on a GPU yet; go test
// ./gpu tests it on one. It is built with the tag cuda. Without the tag, a GPU or its driver,
// opening the engine returns an error that names the remedy.
package gpu
