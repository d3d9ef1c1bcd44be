package ui

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
)

// Plot is a figure over time: columns that stand on each other, and at most one line. It is drawn as
// SVG, and stands in a table beside it for whoever cannot see it or wants the numbers.
type Plot struct {
	Title string   // in the reader's language
	Head  string   // of the first column of the table: "Hour"
	At    []string // what each column is called, such as 14:00; at most 744
	Bars  []Series // at most two; the second stands on the first
	Line  *Series  // with a scale of its own; nil: none
}

// Series is a row of numbers, one for each column of a Plot. Below 0 means not known.
type Series struct {
	Name   string // in the reader's language
	Unit   string // behind each number: "ms"
	Values []int64
}

// The size of a plot, in units of its own.
const (
	plotWide, plotHigh           = 760, 220
	plotLeft, plotRight, plotTop = 52, 44, 10
	plotLow                      = plotHigh - 24 // where columns stand
)

// Plot draws a plot. It returns nothing for one without columns.
func (v *View) Plot(p Plot) (template.HTML, error) {
	if len(p.At) == 0 || len(p.Bars) == 0 {
		return "", nil
	}
	d := drawing{Plot: p, View: v, most: 1}
	for i := range p.At {
		d.most = max(d.most, d.height(i, len(p.Bars)))
	}
	d.most = roundUp(d.most)
	if p.Line != nil {
		d.lineMost = roundUp(max(1, slices.Max(p.Line.Values)))
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

func (d *drawing) step() float64 {
	return float64(plotWide-plotLeft-plotRight) / float64(len(d.At))
}

func (d *drawing) y(n, most int64) float64 {
	return plotLow - float64(n)/float64(most)*(plotLow-plotTop)
}

// Column is one of them, with its rectangles.
type column struct {
	Title string
	Rects []rect
}

// rect is one as a path, which is shorter than an element of its own attributes.
type rect struct{ Class, Path string }

// Columns returns the columns that are not empty.
func (d *drawing) Columns() (all []column) {
	step := d.step()
	gap := min(3, step/4)
	for i, at := range d.At {
		c := column{Title: at}
		for n, s := range d.Bars {
			if i >= len(s.Values) {
				continue
			}
			c.Title += fmt.Sprintf(" · %s %s", s.Name, d.number(s, i))
			top, foot := d.y(d.height(i, n+1), d.most), d.y(d.height(i, n), d.most)
			if foot-top > 0 {
				c.Rects = append(c.Rects,
					rect{fmt.Sprintf("s%d", n), fmt.Sprintf("M%s %sh%sv%sz", places(plotLeft+float64(i)*step+gap/2), places(foot),
						places(step-gap), places(min(top-foot, -1))+"h-"+places(step-gap))})
			}
		}
		if d.Line != nil && i < len(d.Line.Values) {
			c.Title += fmt.Sprintf(" · %s %s", d.Line.Name, d.number(*d.Line, i))
		}
		if len(c.Rects) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// Path is that of the line, broken where nothing is known.
func (d *drawing) Path() string {
	if d.Line == nil {
		return ""
	}
	var out strings.Builder
	pen := "M"
	for i, n := range d.Line.Values {
		if n < 0 || i >= len(d.At) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&out, "%s%s %s", pen, places(plotLeft+(float64(i)+.5)*d.step()), places(d.y(n, d.lineMost)))
		if pen == "M" { // a point by itself is seen too
			out.WriteString("h.1")
		}
		pen = "L"
	}
	return out.String()
}

// mark is a text at an axis.
type mark struct{ X, Y, Text string }

// Marks returns those at the left: none, all, and half where that is a whole number.
func (d *drawing) Marks() (all []mark) {
	for _, n := range []int64{0, d.most / 2, d.most} {
		if n == d.most/2 && d.most%2 != 0 {
			continue
		}
		all = append(all, mark{places(plotLeft - 6), places(d.y(n, d.most)), short(n)})
	}
	return all
}

// LineMarks returns those at the right, of the line.
func (d *drawing) LineMarks() (all []mark) {
	if d.Line == nil {
		return nil
	}
	return []mark{{places(plotWide - plotRight + 6), places(d.y(d.lineMost, d.lineMost)), short(d.lineMost) + d.Line.Unit}}
}

// Ticks returns the names of some columns, at most eight.
func (d *drawing) Ticks() (all []mark) {
	every := (len(d.At) + 7) / 8
	for i := 0; i < len(d.At); i += every {
		all = append(all, mark{places(plotLeft + (float64(i)+.5)*d.step()), places(plotHigh - 6), d.At[i]})
	}
	return all
}

// Rows returns the table.
func (d *drawing) Rows() (all [][]string) {
	for i, at := range d.At {
		row := []string{at}
		for _, s := range d.all() {
			row = append(row, d.number(s, i))
		}
		all = append(all, row)
	}
	return all
}

// Names returns the heads of the table's columns.
func (d *drawing) Names() (all []string) {
	for _, s := range d.all() {
		all = append(all, s.Name)
	}
	return all
}

func (d *drawing) all() []Series {
	if d.Line == nil {
		return d.Bars
	}
	return append(slices.Clone(d.Bars), *d.Line)
}

func (d *drawing) number(s Series, i int) string {
	if i >= len(s.Values) || s.Values[i] < 0 {
		return "–"
	}
	return strings.TrimSpace(d.View.Num(s.Values[i]) + " " + s.Unit)
}

// places writes a length with one decimal.
func places(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// short writes a number in at most four letters and digits.
func short(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= u.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.size)), ".0") + u.name
		}
	}
	return fmt.Sprint(n)
}

var plotTemplate = page.Lazily(func() *template.Template { return template.Must(template.New("plot").Parse(plotText)) })

const plotText = `<figure class="plot">
<figcaption>{{.Title}}<ul>{{range $i, $s := .Bars}}<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="s{{$i}}" width="10" height="10" rx="2"/></svg>{{$s.Name}}</li>{{end}}{{with .Line}}<li><svg viewBox="0 0 10 10" aria-hidden="true"><path class="s2" d="M0 8L5 2L10 6"/></svg>{{.Name}}</li>{{end}}</ul></figcaption>
<svg viewBox="0 0 760 220" role="img" aria-label="{{.Title}}"><title>{{.Title}}</title>
{{range .Marks}}<line class="axis" x1="52" x2="716" y1="{{.Y}}" y2="{{.Y}}"/><text x="{{.X}}" y="{{.Y}}" text-anchor="end" dominant-baseline="middle">{{.Text}}</text>{{end}}
{{range .LineMarks}}<text x="{{.X}}" y="{{.Y}}" dominant-baseline="middle">{{.Text}}</text>{{end}}
{{range .Ticks}}<text x="{{.X}}" y="{{.Y}}" text-anchor="middle">{{.Text}}</text>{{end}}
{{range .Columns}}<g><title>{{.Title}}</title>{{range .Rects}}<path class="{{.Class}}" d="{{.Path}}"/>{{end}}</g>{{end}}
{{with .Path}}<path class="s2" d="{{.}}"/>{{end}}
</svg>
<details><summary>{{.View.T "As a table"}}</summary><div class="scroll" tabindex="0" role="region" aria-label="{{.Title}}"><table><thead><tr><th scope="col">{{.Head}}</th>{{range .Names}}<th scope="col" class="num">{{.}}</th>{{end}}</tr></thead><tbody>{{range .Rows}}<tr>{{range $i, $c := .}}{{if $i}}<td class="num">{{$c}}</td>{{else}}<th scope="row">{{$c}}</th>{{end}}{{end}}</tr>{{end}}</tbody></table></div></details>
</figure>`
