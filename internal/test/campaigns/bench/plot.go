//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The picture of growth, in its own units: a field for the lines, and a column for their names.
const (
	plotWidth, plotHeight = 620.0, 480.0
	plotLeft, plotTop     = 60.0, 30.0
	plotNames             = 330.0
	nameHeight            = 17.0
)

// drawGrowth returns a picture of all figures over the sizes, both on logarithmic scales, each as a multiple of what it
// is at the smallest size: what is flat does not grow.
func drawGrowth(all []measured) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" `+
		`font-size="13"><rect width="100%%" height="100%%" fill="#fff"/>`+"\n", plotLeft+plotWidth+plotNames,
		plotTop+plotHeight+50)
	lines := growthLines(all)
	low, high := 1.0, 2.0
	for _, l := range lines {
		low, high = min(low, slices.Min(l.values)), max(high, slices.Max(l.values))
	}
	y := func(v float64) float64 { return plotTop + plotHeight*(1-math.Log(v/low)/math.Log(high/low)) }
	x := func(i int) float64 {
		if len(all) == 1 {
			return plotLeft
		}
		return plotLeft + plotWidth*math.Log(float64(all[i].n)/float64(all[0].n))/
			math.Log(float64(all[len(all)-1].n)/float64(all[0].n))
	}
	for v := math.Pow(10, math.Floor(math.Log10(low))); v <= high; v *= 10 {
		if v >= low {
			fmt.Fprintf(&out, `<path d="M%.1f %.1fh%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end" `+
				`fill="#555">%sx</text>`+"\n", plotLeft, y(v), plotWidth, plotLeft-6, y(v)+4, number(v))
		}
	}
	for i, m := range all {
		fmt.Fprintf(&out, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#555">%d</text>`+"\n", x(i),
			plotTop+plotHeight+22, m.n)
	}
	free := 0.0 // from where down no name stands yet
	for i, l := range lines {
		colour := fmt.Sprintf("hsl(%d 65%% 40%%)", 360*i/len(lines))
		path := ""
		for j, v := range l.values {
			path += fmt.Sprintf("%c%.1f %.1f", "ML"[min(j, 1)], x(j), y(v))
		}
		last := l.values[len(l.values)-1]
		at := max(y(last)+4, free)
		free = at + nameHeight
		fmt.Fprintf(&out, `<path d="%s" fill="none" stroke="%s" stroke-width="1.6"/><text x="%.1f" y="%.1f" fill="%s">`+
			`%s, %sx</text>`+"\n", path, colour, plotLeft+plotWidth+8, at, colour, l.name, number(last))
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// growthLine has a figure at each size, as multiples of the first.
type growthLine struct {
	name   string
	values []float64
}

// growthLines returns the lines from the one that grows most to the one that grows least.
func growthLines(all []measured) (lines []growthLine) {
	for i, f := range all[0].figures {
		l := growthLine{name: f.name}
		for _, m := range all {
			l.values = append(l.values, max(m.figures[i].value, 1e-3)/max(f.value, 1e-3))
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b growthLine) int {
		return cmp.Compare(b.values[len(all)-1], a.values[len(all)-1])
	})
	return lines
}
