package engine

import (
	"slices"
	"strings"
	"testing"
)

// The layers must be views of one buffer: p from the bottom up, then q, with each parameter once.
func TestLayersViewOneBuffer(t *testing.T) {
	a := Architecture{Units: []int{5, 3, 2}}
	p := NewParameters(a)
	next := float32(0)
	fill := func(l Layer, units, parents int) {
		if l.Units != units || l.Width != 1+parents {
			t.Errorf("a layer is %d×%d, want %d×%d", l.Units, l.Width, units, 1+parents)
		}
		for j := range l.Units {
			for k := range l.Row(j) {
				l.Row(j)[k] = next
				next++
			}
		}
	}
	fill(p.Generative[0], 5, 3)
	fill(p.Generative[1], 3, 2)
	fill(p.Generative[2], 2, 0)
	if int(next) != a.GenerativeSize() {
		t.Errorf("p has %v parameters, GenerativeSize says %d", next, a.GenerativeSize())
	}
	fill(p.Recognition[1], 3, 5)
	fill(p.Recognition[2], 2, 3)
	if int(next) != a.Size() || len(p.Flat) != a.Size() {
		t.Errorf("%v parameters in layers, %d in all, Size says %d", next, len(p.Flat), a.Size())
	}
	if p.Recognition[0].Units != 0 {
		t.Error("x has recognition units")
	}
	for k, v := range p.Flat {
		if v != float32(k) {
			t.Fatalf("parameter %d is %v: a layer is out of place", k, v)
		}
	}
	c := p.Clone()
	c.Generative[1].Row(2)[1]++
	if p.Flat[5*4+2*3+1] != 5*4+2*3+1 || c.Flat[5*4+2*3+1] != 5*4+2*3+2 {
		t.Error("a clone shares its buffer, or its layers do not view it")
	}
}

func TestArchitectureCheck(t *testing.T) {
	for _, c := range []struct {
		units []int
		says  string
	}{
		{[]int{784, 200, 10}, ""},
		{[]int{1, 1}, ""},
		{nil, "at least one hidden layer"},
		{[]int{784}, "at least one hidden layer"},
		{[]int{784, 0, 10}, "layer 1 has 0 units"},
		{[]int{784, 10, -3}, "layer 2 has -3 units"},
		{[]int{1 << 19, 10}, "layer 0 has 524288 units"},
		{make256(), "256 hidden layers"},
	} {
		err := Architecture{Units: c.units}.Check()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("layers %.40v: the error is %v, want one with %q", c.units, err, c.says)
		}
	}
}

// Random numbers of one layer must not repeat: it has 2¹⁶ blocks of four.
func TestGroupsOfManyBlocks(t *testing.T) {
	number, bit := Group{Units: 1, Real: true}, Group{Units: 1, Rest: true}
	mixed := slices.Repeat([]Group{number, bit, bit, bit, bit}, 1<<15)
	for _, c := range []struct {
		groups []Group
		fits   bool
	}{
		{mixed, true}, {append(slices.Clone(mixed), bit), false},
		{[]Group{{Units: 1 << 18, Real: true}}, true}, {[]Group{{Units: 1<<18 - 1, Real: true}, number}, false},
		{slices.Repeat([]Group{bit}, 1<<18), true}, {slices.Repeat([]Group{number}, 1<<16+1), false},
	} {
		units := 0
		for _, g := range c.groups {
			units += g.Units
		}
		err := Architecture{Units: []int{units, 1}, Kinds: []Kind{Categorical}, Groups: [][]Group{c.groups}}.Check()
		if c.fits && err != nil || !c.fits && (err == nil || !strings.Contains(err.Error(), "join neighbouring groups")) {
			t.Errorf("%d groups of %d units: the error is %v", len(c.groups), units, err)
		}
	}
}

func make256() []int {
	units := make([]int, 257)
	for i := range units {
		units[i] = 2
	}
	return units
}
