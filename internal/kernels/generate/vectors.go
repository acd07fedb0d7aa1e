package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// instructionSet is an instruction set that kernels are written for. Both sets have the same
// operations, on vectors of different lengths.
type instructionSet struct {
	name  string
	lanes int // float32 in a vector
}

var (
	avx2   = instructionSet{"AVX2", 8}
	avx512 = instructionSet{"AVX512", 16}
)

// kernel begins a kernel that package kernels calls through its table of kernels. Strides are in bytes.
func (s instructionSet) kernel(name, signature string) { TEXT(name+s.name, NOSPLIT, "func"+signature) }

// bytes returns the size of a vector.
func (s instructionSet) bytes() int { return 4 * s.lanes }

// vector returns a new register.
func (s instructionSet) vector() reg.VecVirtual {
	if s.lanes == 16 {
		return ZMM()
	}
	return YMM()
}

// zero returns a new register of zeros.
func (s instructionSet) zero() reg.VecVirtual {
	v := s.vector()
	VXORPS(v, v, v)
	return v
}

// mask selects the first lanes of a vector: with AVX-512 it is a mask register, with AVX2 a pointer
// to words of ones and zeros. The zero mask selects all lanes.
type mask struct{ register Op }

func (m mask) all() bool { return m.register == nil }

func (m mask) words() Mem { return Mem{Base: m.register.(reg.Register)} }

// firstLanes returns the mask of the first count lanes, 0 ≤ count ≤ s.lanes.
// It leaves count unspecified.
func (s instructionSet) firstLanes(count reg.Register) mask {
	if s.lanes == 16 {
		k, ones := K(), GP32()
		MOVL(U32(0xffff), ones)
		BZHIL(count.(reg.GPVirtual).As32(), ones, ones)
		KMOVW(ones, k)
		return mask{k}
	}
	words := GP64()
	NEGQ(count)
	LEAQ(laneMasks(), words)
	LEAQ(Mem{Base: words, Index: count, Scale: 4, Disp: 32}, words)
	return mask{words}
}

// partialOrFull emits body for mask m. With AVX2, masked stores are slow, so it emits a second body
// for a mask of all lanes.
func (s instructionSet) partialOrFull(m mask, label string, body func(mask)) {
	if s.lanes == 16 {
		body(m)
		return
	}
	CMPL(m.words().Offset(28), Imm(0))
	JE(LabelRef(label + "_partial"))
	body(mask{})
	JMP(LabelRef(label + "_end"))
	Label(label + "_partial")
	body(m)
	Label(label + "_end")
}

var laneMaskTable *Mem

// laneMasks returns a table of eight words of ones and eight of zeros: the vector that starts n
// words before its middle masks the first n lanes.
func laneMasks() Mem {
	if laneMaskTable == nil {
		m := GLOBL("laneMasks", attr.RODATA|attr.NOPTR)
		for i := range 16 {
			DATA(4*i, U32(map[bool]uint32{true: 0xffffffff}[i < 8]))
		}
		laneMaskTable = &m
	}
	return *laneMaskTable
}

// load reads the lanes of m, and zeros elsewhere, without touching memory outside them.
func (s instructionSet) load(from Mem, m mask, to reg.VecVirtual) {
	switch {
	case m.all():
		VMOVUPS(from, to)
	case s.lanes == 16:
		VMOVUPS_Z(from, m.register, to)
	default:
		VMOVUPS(m.words(), to)
		VMASKMOVPS(from, to, to)
	}
}

// store writes the lanes of m.
func (s instructionSet) store(from reg.VecVirtual, m mask, to Mem) {
	switch {
	case m.all():
		VMOVUPS(from, to)
	case s.lanes == 16:
		VMOVUPS(from, m.register, to)
	default:
		lanes := YMM()
		VMOVUPS(m.words(), lanes)
		VMASKMOVPS(from, lanes, to)
	}
}

// argument returns a register with an argument of the kernel.
func argument(name string) reg.Register { return Load(Param(name), GP64()) }

// parameter returns the memory operand of an argument of the kernel.
func parameter(name string) Mem {
	argument, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return argument.Addr
}

// constant returns a vector of repeating 32-bit words: a register with AVX-512, or memory with
// AVX2, which has few registers.
func (s instructionSet) constant(words ...uint32) Op {
	if s.lanes == 8 {
		return table(words...)
	}
	v := s.vector()
	VMOVUPS(table(words...), v)
	return v
}

// table returns 64 bytes of repeating words.
func table(words ...uint32) Mem {
	name := "vector"
	for _, w := range words {
		name += fmt.Sprintf("_%x", w)
	}
	m, known := constantTable[name]
	if !known {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range 16 {
			DATA(4*i, U32(words[i%len(words)]))
		}
		constantTable[name] = m
	}
	return m
}

var constantTable = map[string]Mem{}

// atMostLanes returns the mask of the first count lanes: all lanes if count is larger, and none if
// it is negative.
func (s instructionSet) atMostLanes(count reg.Register) mask {
	lanes, bound := GP64(), GP64()
	XORQ(lanes, lanes)
	TESTQ(count, count)
	CMOVQGT(count, lanes)
	MOVQ(U32(uint32(s.lanes)), bound)
	CMPQ(lanes, bound)
	CMOVQGT(bound, lanes)
	return s.firstLanes(lanes)
}

// vectors emits body for each whole vector of count numbers, and once more for the rest. It leaves
// count unspecified.
func (s instructionSet) vectors(label string, count reg.Register, body func(mask)) {
	Label(label)
	CMPQ(count, Imm(uint64(s.lanes)))
	JL(LabelRef(label + "_rest"))
	body(mask{})
	SUBQ(Imm(uint64(s.lanes)), count)
	JMP(LabelRef(label))
	Label(label + "_rest")
	CMPQ(count, Imm(0))
	JLE(LabelRef(label + "_end"))
	body(s.firstLanes(count))
	Label(label + "_end")
}

// storeFast is like store, at full speed if the mask is full.
func (s instructionSet) storeFast(from reg.VecVirtual, m mask, to Mem, label string) {
	s.partialOrFull(m, label, func(m mask) { s.store(from, m, to) })
}
