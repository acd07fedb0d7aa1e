// Package gpu is the engine that computes on an NVIDIA GPU by CUDA. To import it
// is to register the engine "cuda":
//
//	import _ "github.com/helmholtz-go/helmholtz/gpu"
//
// It has not run on a GPU yet, and passes its tests on an emulated device; on a GPU
// they are go test ./gpu. It is built with the tag cuda. Without the tag, and with it where there is no
// GPU or no driver, opening the engine says what to do.
package gpu
