package oracle

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// layer lists the units of layer i, with all units of another layer as parents. Their parameters begin at
// *start, and layer moves *start past them. It omits tanh layers, and represents a convolution as a dense
// layer in which some weights are 0 and others are shared.
func layer(a engine.Architecture, i, parents int, start *int) []Unit {
	below := min(i, parents)
	switch {
	case parents > a.Depth():
		return rows(a, i, parents, 0, start)
	case len(a.Tanh) > 0:
		return rows(a, i, parents, a.Tanh[len(a.Tanh)-1], start)
	case below >= len(a.Convolutions):
		return rows(a, i, parents, a.Units[parents], start)
	}
	c := a.Convolutions[below]
	switch {
	case parents == below && c.Recognition:
		return tied(a, i, parents, c.Coarse(), c.Fine, c, start)
	case parents > below && c.Generative:
		return tied(a, i, parents, c.Fine, c.Coarse(), c, start)
	}
	return rows(a, i, parents, a.Units[parents], start)
}

// rows returns units that each have a row of parameters, or two rows if they are Gaussian: first
// the rows of μ of all units, then the rows of a.
func rows(a engine.Architecture, i, parents, fanIn int, start *int) (list []Unit) {
	for _, variable := range variables(a, i) {
		first := len(list)
		for k := range variable.Units {
			u := Unit{
				Layer: i, Index: first + k, Parents: parents, Width: 1 + fanIn, Kind: a.Kind(i),
				Start: *start + k*(1+fanIn), Deviation: *start + (variable.Units+k)*(1+fanIn),
				variable: variable, first: first,
				column: func(parent int) int { return 1 + parent },
			}
			if variable.Real {
				u.Kind, u.variable, u.first = engine.Gaussian, engine.Group{Units: 1}, first+k
			}
			list = append(list, u)
		}
		*start += variable.Outputs() * (1 + fanIn)
	}
	return list
}

// place is the position of a unit in a grid.
type place struct{ y, x, channel int }

func placeOf(g engine.Grid, unit int) place {
	pixel := unit / g.Channels
	return place{pixel / g.Width, pixel % g.Width, unit % g.Channels}
}

// tied returns the units of one of the two grids that a convolution connects, with the units of the
// other grid as parents. Units of one channel share their parameters.
func tied(a engine.Architecture, i, parents int, own, other engine.Grid, c engine.Convolution, start *int) (list []Unit) {
	width := 1 + c.Height*c.Width*other.Channels
	for j := range own.Units() {
		unit := placeOf(own, j)
		list = append(list, Unit{
			Layer: i, Index: j, Parents: parents, Width: width, Kind: a.Kind(i),
			variable: engine.Group{Units: 1}, first: j,
			Start: *start + unit.channel*width, Deviation: *start + (own.Channels+unit.channel)*width,
			column: func(parent int) int {
				source := placeOf(other, parent)
				coarse, fine := unit, source
				if own == c.Fine {
					coarse, fine = source, unit
				}
				k, l := fine.y-coarse.y*c.Stride, fine.x-coarse.x*c.Stride
				if k < 0 || k >= c.Height || l < 0 || l >= c.Width {
					return 0
				}
				return 1 + (k*c.Width+l)*other.Channels + source.channel
			},
		})
	}
	*start += a.Kind(i).Outputs() * own.Channels * width
	return list
}
