package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/page"
)

// LineMark returns the text at the right, at the height of the highest: what that is on the scale of the line.
func (d *drawing) LineMark() string {
	if d.Line == nil {
		return ""
	}
	return strings.TrimSpace(short(d.lineMost) + " " + d.Line.Unit)
}

// Ticks returns the texts below, each at the first column that it is for.
func (d *drawing) Ticks() (all []string) {
	for i := 0; i < len(d.At); i += d.every {
		all = append(all, d.tick(i))
	}
	return all
}

// step is the time from one column to the next.
func (d *drawing) step() time.Duration {
	if len(d.At) < 2 {
		return 24 * time.Hour
	}
	return d.At[1].Sub(d.At[0])
}

// tick calls a column as shortly as possible: by its time in a plot of a day, else by its date, and its time.
func (d *drawing) tick(i int) string {
	if d.step() < 24*time.Hour && d.At[len(d.At)-1].Sub(d.At[0]) < 24*time.Hour {
		return d.At[i].UTC().Format("15:04")
	}
	return d.name(i)
}

// name calls a column by its date, and its time if columns are shorter than a day.
func (d *drawing) name(i int) string {
	at, layout := d.At[i].UTC(), "2 Jan"
	if d.View.Lang == page.Chinese {
		layout = "1月2日"
	}
	if d.step() < 24*time.Hour {
		layout += " 15:04"
	}
	return at.Format(layout)
}

// Rows returns the table.
func (d *drawing) Rows() (all [][]string) {
	for i := range d.At {
		row := []string{d.name(i)}
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
	all := slices.Clone(d.Bars)
	for _, s := range []*Series{d.Before, d.Line} {
		if s != nil {
			all = append(all, *s)
		}
	}
	return all
}

func (d *drawing) number(s Series, i int) string {
	if i >= len(s.Values) || s.Values[i] < 0 {
		return "–"
	}
	return strings.TrimSpace(d.View.Num(s.Values[i]) + " " + s.Unit)
}

// places writes a length with one decimal.
func places(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// short writes a number in at most five letters and digits.
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
