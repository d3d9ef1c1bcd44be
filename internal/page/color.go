package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// paint returns the style that puts a brand's colour in place of ours, "" for none. The text on it
// is black or white, whichever reads better: one of the two always reaches 4.5:1. The edge in that
// text's colour keeps a dark button apart from a dark card. A focused element has a ring in the
// text's colour, because the brand's may be hard to see on a card, and ours is not theirs; nor is
// the glow behind the card.
func paint(color string) template.CSS {
	accent, ok := parseColor(color)
	if !ok {
		return ""
	}
	ink := "#ffffff"
	if contrast(accent, rgb{}) > contrast(accent, rgb{255, 255, 255}) {
		ink = "#000000"
	}
	return template.CSS(fmt.Sprintf(":root:root{--accent:%s;--on-accent:%s;--edge:%s4d;"+
		"--ring:var(--text);--glow:var(--page)}", accent, ink, ink))
}

type rgb [3]uint8

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// parseColor reads #rrggbb and nothing else: the result goes into a style sheet.
func parseColor(text string) (c rgb, ok bool) {
	if len(text) != 7 || text[0] != '#' {
		return c, false
	}
	for i := range c {
		v, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return c, false
		}
		c[i] = uint8(v)
	}
	return c, true
}

// contrast is the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b rgb) float64 {
	lighter, darker := max(a.luminance(), b.luminance()), min(a.luminance(), b.luminance())
	return (lighter + 0.05) / (darker + 0.05)
}

func (c rgb) luminance() float64 {
	var part [3]float64
	for i, v := range c {
		s := float64(v) / 255
		if part[i] = s / 12.92; s > 0.04045 {
			part[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*part[0] + 0.7152*part[1] + 0.0722*part[2]
}
