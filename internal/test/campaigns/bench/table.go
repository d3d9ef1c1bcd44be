//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
)

// figure is a line of the table: a measured number and what it should be.
type figure struct {
	work   string
	beside string  // what it is held against
	goal   float64 // none: NaN
	atMost bool    // the goal is an upper bound
	value  float64
	unit   string
	spread float64 // between the rounds
	cpu    float64 // microseconds a unit of work; 0: not measured
	note   string
}

// met says how the goal was met, "" if there is none.
func (f figure) met() string {
	switch {
	case math.IsNaN(f.goal):
		return ""
	case f.atMost == (f.value <= f.goal):
		return "yes"
	}
	return "no"
}

// ofRates reports whether a figure is a ratio of rates.
func (f figure) ofRates() bool { return f.unit == "" && !f.atMost }

func printHead(w io.Writer) {
	fmt.Fprintln(w, "| row | work | beside | goal | measured | rounds apart | server CPU, us | met | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
}

func (f figure) print(w io.Writer, row int) {
	goal, cpu, spread := "", "", ""
	if !math.IsNaN(f.goal) {
		goal = map[bool]string{true: "<= ", false: ">= "}[f.atMost] + number(f.goal) + f.unit
	}
	if f.cpu != 0 {
		cpu = fmt.Sprintf("%.1f", f.cpu)
	}
	if f.spread != 0 {
		spread = number(f.spread) + f.unit
	}
	fmt.Fprintf(w, "| %d | %s | %s | %s | %s%s | %s | %s | %s | %s |\n", row, f.work, f.beside, goal, number(f.value),
		f.unit, spread, cpu, f.met(), f.note)
}

// number prints three digits that count.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

var noGoal = math.NaN()
