// Package level says of a series of measurements whether it stays level or grows.
//
// It wants two things before it calls a series growing, because each is deceived by something: a robust
// slope (Theil-Sen: the median of the slopes between all pairs) by nothing that happens now and then, but
// by one step in the middle; and the medians of the second and the last quarter by a saw-tooth that
// begins low and ends high.
// A step near the middle moves the quarters and not the slope, and is no leak.
package level

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Point is one measurement.
type Point struct {
	At    time.Duration // since any time that is the same for the series
	Value float64
}

// Tolerance is by how much a series may grow over its whole length: a share of its median in the second
// quarter, and so much in any case.
type Tolerance struct {
	Share float64
	Least float64
}

func (t Tolerance) of(start float64) float64 { return max(t.Share*math.Abs(start), t.Least) }

// Verdict holds what a series comes to.
type Verdict struct {
	Points     int     `json:"points"`
	Start      float64 `json:"start"`   // median of the second quarter
	End        float64 `json:"end"`     // median of the last quarter
	PerHour    float64 `json:"perHour"` // the robust slope
	Rise       float64 `json:"rise"`    // what the slope comes to over the length of the series
	Allowed    float64 `json:"allowed"`
	Growing    bool    `json:"growing"`
	Undecided  bool    `json:"undecided"` // too few points
	LengthSecs float64 `json:"lengthSecs"`
}

// Fewest is the number of points below which nothing is said.
const Fewest = 12

// Judge judges a series in the order of time.
func Judge(series []Point, t Tolerance) Verdict {
	v := Verdict{Points: len(series), Undecided: len(series) < Fewest}
	if len(series) == 0 {
		return v
	}
	n := len(series)
	length := series[n-1].At - series[0].At
	v.LengthSecs = length.Seconds()
	v.Start, v.End = median(values(series[n/4:max(n/2, n/4+1)])), median(values(series[n-max(n/4, 1):]))
	if v.Undecided || length <= 0 {
		return v
	}
	v.PerHour = slope(series) * time.Hour.Seconds()
	v.Rise = v.PerHour * length.Hours()
	v.Allowed = t.of(v.Start)
	v.Growing = v.Rise > v.Allowed && v.End-v.Start > v.Allowed/2 // the quarters are half the length apart
	return v
}

func (v Verdict) String() string {
	if v.Undecided {
		return fmt.Sprintf("%.4g, then %.4g; %d points are too few to judge", v.Start, v.End, v.Points)
	}
	return fmt.Sprintf("%.4g in the second quarter and %.4g in the last; %+.4g in %.0f s, %.4g are allowed", v.Start,
		v.End, v.Rise, v.LengthSecs, v.Allowed)
}

// Floor returns for each point the least value of n points that end with it. Memory that comes and goes, such
// as that for one password, does not show there; memory that is never given back does.
func Floor(series []Point, n int) []Point {
	floor := slices.Clone(series)
	for i := range floor {
		for _, p := range series[max(0, i-n+1):i] {
			floor[i].Value = min(floor[i].Value, p.Value)
		}
	}
	return floor
}

// most bounds the points that are paired: the pairs grow with the square.
const most = 800

// slope is the median of the slopes between pairs of points, by the second.
func slope(series []Point) float64 {
	step := (len(series) + most - 1) / most
	var all []float64
	for i := 0; i < len(series); i += step {
		for j := i + step; j < len(series); j += step {
			if d := (series[j].At - series[i].At).Seconds(); d > 0 {
				all = append(all, (series[j].Value-series[i].Value)/d)
			}
		}
	}
	return median(all)
}

func values(series []Point) (all []float64) {
	for _, p := range series {
		all = append(all, p.Value)
	}
	return all
}

// median returns the middle one, of an even number the mean of both; 0 of none.
func median(all []float64) float64 {
	n := len(all)
	if n == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[n/2] + all[(n-1)/2]) / 2
}
