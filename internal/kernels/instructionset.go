package kernels

import (
	"fmt"
	"os"
	"strings"
)

// An instructionSet names an implementation of the kernels.
type instructionSet int

const (
	portable instructionSet = iota
	avx2
	avx512
	neon
)

var instructionSetNames = [...]string{portable: "portable", avx2: "avx2", avx512: "avx512", neon: "neon"}

// variable is the environment variable that selects the instruction set.
const variable = "HELMHOLTZ_CPU"

var (
	supported  = supportedSets() // slowest first
	current    = supported[len(supported)-1]
	unfollowed error // error in the choice of HELMHOLTZ_CPU
)

func init() {
	if name := os.Getenv(variable); name != "" {
		if err := SetInstructionSet(name); err != nil {
			unfollowed = fmt.Errorf("%s: %w", variable, err)
		}
	}
}

// EnvironmentError returns the reason why the kernels do not use the instruction set that the
// environment variable HELMHOLTZ_CPU names. It returns nil if they use it, or if the variable is
// unset.
func EnvironmentError() error { return unfollowed }

// InstructionSet returns the name of the instruction set that the kernels use: avx512, avx2, neon or
// portable. It is the best that the processor has, unless the environment variable HELMHOLTZ_CPU or
// SetInstructionSet selects another.
func InstructionSet() string { return instructionSetNames[current] }

// InstructionSets returns the names of the instruction sets that this build and this processor
// support, slowest first.
func InstructionSets() (names []string) {
	for _, s := range supported {
		names = append(names, instructionSetNames[s])
	}
	return names
}

// SetInstructionSet makes the kernels use one of InstructionSets. No kernel may run meanwhile.
func SetInstructionSet(name string) error {
	for _, s := range supported {
		if instructionSetNames[s] == name {
			current = s
			return nil
		}
	}
	return fmt.Errorf("this build on this processor has no instruction set %q: choose one of %s",
		name, strings.Join(InstructionSets(), ", "))
}
