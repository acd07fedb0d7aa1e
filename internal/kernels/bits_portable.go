package kernels

import "math"

// The portable products use groups of four, as the kernels for AVX-512 do.

func portableBitsOfRows(words []uint32, a Matrix, stride int) {
	for r := range a.Rows {
		for j, x := range Row(a, r) {
			at := &words[j/32*stride+r]
			if j%32 == 0 {
				*at = 0
			}
			if x > 0 {
				*at |= 1 << (j % 32)
			}
		}
	}
}

func portableBitsOfColumns(words []uint32, a Matrix) {
	clear(words)
	for i := range a.Rows {
		for j, x := range Row(a, i) {
			if x > 0 {
				words[j] |= 1 << i
			}
		}
	}
}

func portableLargest(row []float32) (largest uint32) {
	for _, x := range row {
		largest = max(largest, math.Float32bits(x)&0x7fffffff)
	}
	return largest
}

func portableFix(to []int32, from []float32, factor float32) (sum int32) {
	for i, x := range from {
		to[i] = int32(math.RoundToEven(float64(x * factor)))
		sum += to[i]
	}
	return sum
}

func portableSubsets(to, from []int32, stride, groups int) {
	for g := range groups {
		for r := range quad {
			sums := to[(g*quad+r)*16:][:16]
			sums[0] = 0
			for i, k := range from[r*stride+4*g:][:4] {
				for subset := range 1 << i {
					sums[1<<i+subset] = sums[subset] + k
				}
			}
		}
	}
}

func portableBitsProduct(sums, tables []int32, words []uint32, groups, columns, stride, add int) {
	for c := range columns {
		var s [quad]int32
		for g := range groups {
			choice := words[g/groupsOfWord*stride+c] >> (4 * (g % groupsOfWord)) & 15
			subsets := tables[g*quad*16:][:quad*16]
			s[0] += subsets[choice]
			s[1] += subsets[16+choice]
			s[2] += subsets[32+choice]
			s[3] += subsets[48+choice]
		}
		for r, sum := range s {
			if add != 0 {
				sum += sums[r*stride+c]
			}
			sums[r*stride+c] = sum
		}
	}
}

func (o *fixedOutput) float(r int, k int32) float32 {
	return float32(float32(k<<o.shift+o.starts[r]) * o.scales[r])
}

func portableWriteRows(c Matrix, sums []int32, stride int, o *fixedOutput, add int) {
	for r := range c.Rows {
		row := Row(c, r)
		for j := range row {
			x := o.float(r, sums[r*stride+j])
			if add != 0 {
				x += row[j]
			}
			row[j] = x
		}
	}
}

// portableWriteColumns writes the columns of sums as rows, except that it leaves out the first
// rows of sums in the first columns.
func portableWriteColumns(c Matrix, sums []int32, stride int, o *fixedOutput, columns, rows int) {
	for column := range c.Rows {
		if column == columns {
			rows = 0
		}
		row := Row(c, column)
		for r := rows; r < len(row); r++ {
			row[r] = o.float(r, sums[r*stride+column])
		}
	}
}
