package kernels

import (
	"fmt"
	"os"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// An instructionSet is an implementation of the kernels.
type instructionSet struct {
	name      string
	lanes     int // float32 in a vector
	groupBits int // bits of a group
	// A vector of bits has this number of columns, and a tile of a product with bits has tileColumns.
	columns, tileColumns int

	// These kernels are assembly, which takes strides in bytes. The portable set has none of them. products are for
	// one, two and three vectors of columns. outer adds aᵀ·b to a tile of c of lanes/2 rows and 3·lanes/2 columns.
	// strip32 and strip16 multiply a strip of a symmetric matrix and its mirror image by x, and add the products
	// to y.
	products [3]product
	outer    func(c, a, b *float64, depth, stride int)
	strip32  func(y, x, blocks *float32, strip int)
	strip16  func(y, x *float32, blocks *int16, scales *float32, strip int)

	// These kernels are assembly for amd64 only.
	sigmoids, negateMeans func(logits *float32, units int)
	addSingles            func(to *float64, from *float32, vectors int) // of lanes/2
	samples               func(to *uint32, vectors int, key uint64, counter *[4]uint32)

	// The portable functions of the same names say what these do.
	atMostOne     func(inputs Matrix, biases []float32, rows []int)
	doubles       [5]func(x []float64) // of Softplus, Logistic, Log1p, Exp and RoundedTanh
	dots          func(to, rows, x []float64)
	units         func(todo int, states, logits []float32, off float32, key philox.Key, c philox.Counter) float64
	blocks        func(r *doubleRoom, n int, key philox.Key, c philox.Counter)
	normals       func(r *doubleRoom, n int)
	addMultiple   func(x []float32, by float32, y []float32)                      // not for amd64
	transpose     func(to, from []float32, rows, depth, strideTo, strideFrom int) // at most one row per lane
	gather        func(to, from Matrix, rows []int32, weights []float32)
	bitsOfRows    func(words []uint32, a Matrix, stride int)
	bitsOfColumns func(words []uint32, a Matrix)
	largest       func(row []float32) uint32
	fix           func(to []int32, from []float32, factor float32) int32
	subsets       func(to, from []int32, stride, groups int)
	bitsProduct   func(sums, tables []int32, words []uint32, groups, columns, stride, add int)
	writeRows     func(c Matrix, sums []int32, stride int, o *fixedOutput, add int)
	writeColumns  func(c Matrix, sums []int32, stride int, o *fixedOutput)
}

// A product sets c = β·c + α·a·b for whole vectors of columns, the last of which has lastLanes. It does not read c
// where β = 0.
type product = func(c, a, b *float32, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes int, alpha, beta float32)

var portable = instructionSet{
	name: "portable", lanes: 1, groupBits: 4, columns: 1, tileColumns: 16,
	atMostOne: portableAtMostOne, doubles: portableDoubles, dots: portableDots,
	units: portableUnits, blocks: portableBlocks, normals: portableNormals, addMultiple: portableAddMultiple, transpose: portableTranspose, gather: portableGather,
	bitsOfRows: portableBitsOfRows, bitsOfColumns: portableBitsOfColumns, largest: portableLargest, fix: portableFix, subsets: portableSubsets, bitsProduct: portableBitsProduct, writeRows: portableWriteRows,
	writeColumns: func(c Matrix, sums []int32, stride int, o *fixedOutput) {
		portableWriteColumns(c, sums, stride, o, 0, 0)
	},
}

// portableTranspose writes a row of a matrix as a column.
func portableTranspose(to, from []float32, _, depth, strideTo, _ int) {
	for k, x := range from[:depth] {
		to[k*strideTo] = x
	}
}

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
func InstructionSet() string { return current.name }

// InstructionSets returns the names of the instruction sets that this build and this processor
// support, slowest first.
func InstructionSets() (names []string) {
	for _, s := range supported {
		names = append(names, s.name)
	}
	return names
}

// SetInstructionSet makes the kernels use one of InstructionSets. No kernel may run meanwhile.
func SetInstructionSet(name string) error {
	for _, s := range supported {
		if s.name == name {
			current = s
			return nil
		}
	}
	return fmt.Errorf("this build on this processor has no instruction set %q: choose one of %s",
		name, strings.Join(InstructionSets(), ", "))
}
