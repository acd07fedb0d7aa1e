// Command generate writes the vector kernels of package kernels in Go assembly.
//
// Run it as
//
//	go generate
//
// in this folder. If that changes a file, the file was out of date. The generator is a separate
// module, so that users of the library never download it.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
)

//go:generate go run . -kernel bernoulli -out ../bernoulli_amd64.s -stubs ../bernoulli_amd64.go -pkg kernels
//go:generate go run . -kernel bits -out ../bits_amd64.s -stubs ../bits_amd64.go -pkg kernels
//go:generate go run . -kernel exponentials -out ../exponentials_amd64.s -stubs ../exponentials_amd64.go -pkg kernels
//go:generate go run . -kernel gather -out ../gather_amd64.s -stubs ../gather_amd64.go -pkg kernels
//go:generate go run . -kernel gaussian -out ../gaussian_amd64.s -stubs ../gaussian_amd64.go -pkg kernels
//go:generate go run . -kernel outer -out ../outer_amd64.s -stubs ../outer_amd64.go -pkg kernels
//go:generate go run . -kernel product -out ../product_amd64.s -stubs ../product_amd64.go -pkg kernels
//go:generate go run . -kernel symmetric -out ../symmetric_amd64.s -stubs ../symmetric_amd64.go -pkg kernels
//go:generate go run . -kernel transpose -out ../transpose_amd64.s -stubs ../transpose_amd64.go -pkg kernels
//go:generate go run ./neon

var kernels = map[string]func(instructionSet){
	"bernoulli":    bernoulli,
	"bits":         bits,
	"exponentials": exponentials,
	"gather":       gather,
	"gaussian":     gaussian,
	"outer":        outer,
	"product":      product,
	"symmetric":    symmetric,
	"transpose":    transpose,
}

func main() {
	kernel := flag.String("kernel", "", "the kernel to generate: a key of kernels")
	flag.Parse()
	ConstraintExpr("!purego")
	for _, s := range []instructionSet{avx2, avx512} {
		kernels[*kernel](s)
	}
	Generate()
}
