package kernels

// Tanh replaces numbers by their hyperbolic tangents, tanh(a) = 2σ(2a) − 1, with the absolute error
// of rounding to single precision. The results do not depend on the instruction set.
func Tanh(numbers []float32) {
	for j := range numbers {
		numbers[j] *= 2
	}
	NegateMeans(numbers)
	for j, s := range numbers {
		numbers[j] = -2*s - 1
	}
}
