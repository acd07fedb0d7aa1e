package kernels

// portableProduct sets c = β·c + α·a·b in tiles of 4 × 2 elements, whose sums a compiler keeps in
// registers.
func portableProduct(c Matrix, alpha, beta float32, a, b operand, depth int) {
	const height, width = 4, 2
	i := 0
	for ; i+height <= c.Rows; i += height {
		j := 0
		for ; j+width <= c.Cols; j += width {
			tile := dots4x2(a.from(i, 0), b.from(0, j), depth)
			for r := range height {
				for s := range width {
					update(c, i+r, j+s, alpha, beta, tile[r][s])
				}
			}
		}
		for ; j < c.Cols; j++ {
			for r := range height {
				update(c, i+r, j, alpha, beta, dot(a.from(i+r, 0), b.from(0, j), depth))
			}
		}
	}
	for ; i < c.Rows; i++ {
		for j := range c.Cols {
			update(c, i, j, alpha, beta, dot(a.from(i, 0), b.from(0, j), depth))
		}
	}
}

// from returns o without its first row rows and col columns.
func (o operand) from(row, col int) operand {
	o.data = o.data[min(row*o.row+col*o.col, len(o.data)):]
	return o
}

func update(c Matrix, i, j int, alpha, beta, sum float32) {
	at := &c.Data[i*c.Stride+j]
	if beta == 0 {
		*at = alpha * sum
	} else {
		*at = beta**at + alpha*sum
	}
}

// dot returns the product of the first row of a and the first column of b.
func dot(a, b operand, depth int) float32 {
	sum := float32(0)
	for k := range depth {
		sum += a.data[k*a.col] * b.data[k*b.row]
	}
	return sum
}

// dots4x2 returns the products of the first four rows of a with the first two columns of b, each
// computed like dot.
func dots4x2(a, b operand, depth int) (tile [4][2]float32) {
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	a1, a2, a3, b1 := a.row, 2*a.row, 3*a.row, b.col
	x, y := 0, 0
	for range depth {
		p, q := b.data[y], b.data[y+b1]
		u := a.data[x]
		s00 += u * p
		s01 += u * q
		u = a.data[x+a1]
		s10 += u * p
		s11 += u * q
		u = a.data[x+a2]
		s20 += u * p
		s21 += u * q
		u = a.data[x+a3]
		s30 += u * p
		s31 += u * q
		x += a.col
		y += b.row
	}
	return [4][2]float32{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}}
}
