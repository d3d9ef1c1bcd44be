package ui

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/page"
)

// Plot is a figure over time: columns that stand on each other, and at most two lines. It is drawn as an SVG that is
// stretched to the room there is. Its texts stand around it, in HTML, so that they are never shrunk, and its numbers
// stand in a table below, for readers who cannot see it. The script shows the numbers of a column that is pointed at,
// or chosen with the arrow keys.
type Plot struct {
	Title  string      // in the reader's language
	Head   string      // of the first column of the table: "Hour"
	At     []time.Time // when each column begins, in even steps; at most 744
	Bars   []Series    // at most two; the second stands on the first
	Before *Series     // a line on the scale of the columns, such as the same time a week ago; nil: none
	Line   *Series     // a line on a scale of its own; nil: none
}

// Series is a row of numbers, one for each column of a Plot. Below 0 means not known.
type Series struct {
	Name   string // in the reader's language
	Unit   string // behind each number: "ms"
	Values []int64
}

// The size of a plot, in units of its own.
const (
	plotStep = 10  // the width of a column
	plotHigh = 200 // and the height of the highest
)

// Plot draws a plot. It returns nothing for one without columns.
func (v *View) Plot(p Plot) (template.HTML, error) {
	if len(p.At) == 0 || len(p.Bars) == 0 {
		return "", nil
	}
	d := drawing{Plot: p, View: v, most: 1, every: everyTick(len(p.At))}
	for i := range p.At {
		d.most = max(d.most, d.height(i, len(p.Bars)))
	}
	if p.Before != nil && len(p.Before.Values) > 0 {
		d.most = max(d.most, slices.Max(p.Before.Values))
	}
	d.most = roundUp(d.most)
	if p.Line != nil {
		d.lineMost = roundUp(max(1, slices.Max(append([]int64{1}, p.Line.Values...))))
	}
	var out strings.Builder
	err := plotTemplate.Execute(&out, &d)
	return template.HTML(out.String()), err
}

// drawing places a plot.
type drawing struct {
	Plot
	View           *View
	most, lineMost int64
	every          int // columns that share a text below them
}

// everyTick returns how many of so many columns share a text below them: so many that there are at most eight texts,
// and that the last of them has as many as the others, or nearly.
func everyTick(columns int) int {
	best := (columns + 7) / 8
	spare := func(every int) int { return (every - columns%every) % every }
	for every := best; every <= columns/4; every++ {
		if spare(every) < spare(best) {
			best = every
		}
	}
	return best
}

// height is that of the first n bars of a column, in the numbers of the series.
func (d *drawing) height(column, n int) (sum int64) {
	for _, s := range d.Bars[:n] {
		if column < len(s.Values) {
			sum += max(0, s.Values[column])
		}
	}
	return sum
}

// roundUp returns the next of 1, 2, 5, 10, 20, 50 and so on.
func roundUp(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if unit*step >= n || unit > 1<<58 {
				return unit * step
			}
		}
	}
}

// Slots returns how many columns have room: the last of the texts below may have fewer than the others.
func (d *drawing) Slots() int { return len(d.Ticks()) * d.every }

// Wide returns how wide the drawing is.
func (d *drawing) Wide() int { return d.Slots() * plotStep }

// High returns how high it is.
func (d *drawing) High() int { return plotHigh }

func (d *drawing) y(n, most int64) float64 { return plotHigh * (1 - float64(n)/float64(most)) }

// column is one of them, with its rectangles.
type column struct {
	Title string
	Rects []rect
}

// rect is one as a path, which is shorter than an element of its own attributes.
type rect struct{ Class, Path string }

// Columns returns the columns that are not empty.
func (d *drawing) Columns() (all []column) {
	for i := range d.At {
		c := column{Title: d.name(i)}
		for n, s := range d.Bars {
			top, foot := d.y(d.height(i, n+1), d.most), d.y(d.height(i, n), d.most)
			if i < len(s.Values) && foot > top {
				c.Rects = append(c.Rects, rect{fmt.Sprintf("s%d", n),
					fmt.Sprintf("M%d %sh8v%sh-8z", i*plotStep+1, places(foot), places(min(top-foot, -1)))})
			}
		}
		for _, s := range d.all() {
			c.Title += fmt.Sprintf(" · %s %s", s.Name, d.number(s, i))
		}
		if len(c.Rects) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// path returns that of the line of a series, which is broken where nothing is known, and that of the dots where it is
// known of a column and of neither neighbour.
func (d *drawing) path(s *Series, most int64) (line, dots string) {
	if s == nil {
		return "", ""
	}
	known := func(i int) bool { return i >= 0 && i < min(len(s.Values), len(d.At)) && s.Values[i] >= 0 }
	var path, alone strings.Builder
	for i := range d.At {
		if !known(i) {
			continue
		}
		at := fmt.Sprintf("%d %s", i*plotStep+plotStep/2, places(d.y(s.Values[i], most)))
		switch {
		case known(i - 1):
			path.WriteString("L" + at)
		case known(i + 1):
			path.WriteString("M" + at)
		default:
			alone.WriteString("M" + at + "h.01")
		}
	}
	return path.String(), alone.String()
}

// Lines returns the lines, and the dots of each.
func (d *drawing) Lines() (all []rect) {
	for _, one := range []struct {
		class string
		of    *Series
		most  int64
	}{{"s3", d.Before, d.most}, {"s2", d.Line, d.lineMost}} {
		line, dots := d.path(one.of, one.most)
		if line != "" {
			all = append(all, rect{one.class, line})
		}
		if dots != "" {
			all = append(all, rect{one.class + " dots", dots})
		}
	}
	return all
}

// mark is a text at the left, and where its line is.
type mark struct {
	Text string
	Y    string
}

// Marks returns those at the left, from above: all, half where that is a whole number, and none.
func (d *drawing) Marks() (all []mark) {
	levels := []int64{d.most, d.most / 2, 0}
	if d.most%2 != 0 {
		levels = []int64{d.most, 0}
	}
	for _, n := range levels {
		all = append(all, mark{short(n), places(d.y(n, d.most))})
	}
	return all
}

var plotTemplate = page.Lazily(func() *template.Template {
	return template.Must(template.New("plot.html").ParseFS(own, "plot.html"))
})
