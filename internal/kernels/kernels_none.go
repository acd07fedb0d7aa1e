//go:build (!amd64 && !arm64) || purego

package kernels

// supportedSets returns the only instruction set of this build.
func supportedSets() []*instructionSet { return []*instructionSet{&portable} }
