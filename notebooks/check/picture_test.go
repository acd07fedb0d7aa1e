package check

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// wakeAndSleep draws chapter 1's picture. On the left q guesses upwards, on the right p dreams downwards. Solid arrows
// draw samples, and dashed thick ones learn from them, in the colours of docs/images/phases.svg. The white ground keeps it
// readable on dark pages.
func wakeAndSleep() string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line(`<svg xmlns="http://www.w3.org/2000/svg" width="680" height="300" viewBox="0 0 680 300" font-family="sans-serif" font-size="14" text-anchor="middle">`)
	line(`<title>Wake: q guesses from data upwards, and p learns. Sleep: p dreams downwards, and q learns.</title>`)
	line(`<rect width="680" height="300" rx="8" fill="#ffffff"/>`)
	const p, q = "#0072b2", "#c35400"
	for _, head := range [][2]string{{"q", q}, {"p", p}} {
		line(`<marker id="%s" viewBox="0 0 10 10" refX="8" refY="5" markerUnits="userSpaceOnUse" markerWidth="14" markerHeight="14" orient="auto"><path d="M0 0L10 5L0 10z" fill="%s"/></marker>`, head[0], head[1])
	}
	layers := []struct {
		name string
		y    int
		on   string // the units, 1 if on
	}{{"h²", 75, "010"}, {"h¹", 150, "1011"}, {"x", 225, "01101"}}
	for _, panel := range []struct {
		x                 int
		title, acts       string
		learner, learning string
	}{
		{170, "Wake", "q guesses h from an image x", "p", "p learns to make x from the guess"},
		{510, "Sleep", "p dreams h, and from it x", "q", "q learns to guess h from the dream"},
	} {
		line(`<text x="%d" y="32" font-size="18" font-weight="bold" fill="#222222">%s</text>`, panel.x, panel.title)
		for _, layer := range layers {
			line(`<text x="%d" y="%d" font-style="italic" fill="#222222">%s</text>`, panel.x-135, layer.y+5, layer.name)
			for i, unit := range layer.on {
				fill := map[rune]string{'0': "#ffffff", '1': "#444444"}[unit]
				line(`<circle cx="%d" cy="%d" r="9" fill="%s" stroke="#444444" stroke-width="1.5"/>`, panel.x+30*i-15*(len(layer.on)-1), layer.y, fill)
			}
		}
		for _, arrow := range []struct {
			network, color string
			x              int
			up             bool
		}{{"p", p, panel.x - 95, false}, {"q", q, panel.x + 95, true}} {
			style := `stroke-width="2"`
			if arrow.network == panel.learner {
				style = `stroke-width="4" stroke-dasharray="5 3"`
			}
			for _, lower := range []int{150, 225} {
				from, to := lower-8, lower-67
				if !arrow.up {
					from, to = to, from
				}
				line(`<path d="M%d %dV%d" stroke="%s" %s marker-end="url(#%s)"/>`, arrow.x, from, to, arrow.color, style, arrow.network)
			}
			line(`<text x="%d" y="155" font-style="italic" font-size="18" fill="%s">%s</text>`, arrow.x+map[bool]int{true: 16, false: -16}[arrow.up], arrow.color, arrow.network)
		}
		actor, learner := q, p
		if panel.learner == "q" {
			actor, learner = p, q
		}
		line(`<text x="%d" y="263" fill="%s">%s (solid)</text>`, panel.x, actor, panel.acts)
		line(`<text x="%d" y="285" fill="%s">%s (dashed)</text>`, panel.x, learner, panel.learning)
	}
	line(`</svg>`)
	return b.String()
}

// The committed picture is the one that this program draws; go test ./notebooks/check -run Wake -update writes it.
func TestPictureOfWakeAndSleep(t *testing.T) {
	const path = "../images/wake-sleep.svg"
	if *update {
		if err := os.WriteFile(path, []byte(wakeAndSleep()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, path) != wakeAndSleep() {
		t.Errorf("%s is not what wakeAndSleep draws: write it anew with -update", path)
	}
}
