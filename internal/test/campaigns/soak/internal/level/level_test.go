package level

import (
	"math/rand/v2"
	"testing"
	"time"
)

var allowed = Tolerance{Share: 0.1, Least: 20}

// drawn is a series of ten minutes, a point every three seconds, with noise of up to 10.
func drawn(value func(share float64) float64) (all []Point) {
	dice := rand.New(rand.NewPCG(1, 2))
	const n = 200
	for i := range n {
		all = append(all, Point{time.Duration(i) * 3 * time.Second, value(float64(i)/n) + 20*dice.Float64() - 10})
	}
	return all
}

func TestLeakIsGrowthAndWhatStaysLevelIsNone(t *testing.T) {
	saw := func(teeth, height float64) func(float64) float64 {
		return func(x float64) float64 { return 300 + height*(x*teeth-float64(int(x*teeth))) }
	}
	for _, c := range []struct {
		name    string
		value   func(share float64) float64
		growing bool
	}{
		{"level", func(float64) float64 { return 300 }, false},
		{"level around nothing", func(float64) float64 { return 0 }, false},
		{"a leak", func(x float64) float64 { return 300 + 200*x }, true},
		{"a slow leak, less than the noise from one point to the next", func(x float64) float64 { return 300 + 45*x }, true},
		{"growth within what is allowed", func(x float64) float64 { return 300 + 20*x }, false},
		{"a leak that is freed in part again and again", func(x float64) float64 { return saw(12, 100)(x) + 120*x }, true},
		{"a saw-tooth", saw(12, 200), false},
		{"a saw-tooth that ends high", saw(7.6, 200), false},
		{"shrinking", func(x float64) float64 { return 600 - 300*x }, false},
		{"a short step up and down again", func(x float64) float64 {
			if x > 0.7 && x < 0.8 {
				return 900
			}
			return 300
		}, false},
		{"a step early on", func(x float64) float64 {
			if x < 0.2 {
				return 100
			}
			return 300
		}, false},
		{"a step late", func(x float64) float64 {
			if x > 0.8 {
				return 900
			}
			return 300
		}, false},
		{"caches that fill, and are full", func(x float64) float64 { return 300 + 300*min(x/0.4, 1) }, false},
		{"stairs", func(x float64) float64 { return 300 + 100*float64(int(x*5)) }, true},
		{"a leak that begins in the middle", func(x float64) float64 { return 300 + 600*max(0, x-0.4) }, true},
	} {
		if v := Judge(drawn(c.value), allowed); v.Growing != c.growing || v.Undecided {
			t.Errorf("%s: growing is %v, want %v: %v, of %d points", c.name, v.Growing, c.growing, v, v.Points)
		}
	}
}

func TestLevelSaysNothingOfFewPoints(t *testing.T) {
	leak := drawn(func(x float64) float64 { return 10000 * x })
	for n := range Fewest {
		if v := Judge(leak[:n], allowed); v.Growing || !v.Undecided || v.Points != n {
			t.Errorf("of %d points: %+v", n, v)
		}
	}
	if v := Judge(leak[:Fewest], allowed); !v.Growing {
		t.Errorf("of %d points: %+v", Fewest, v)
	}
}

func TestMediansAndTheSlopeAreThoseOfTheSeries(t *testing.T) {
	var series []Point
	for i := range 16 {
		series = append(series, Point{time.Duration(i) * time.Minute, float64(100 + i)})
	}
	v := Judge(series, Tolerance{Least: 14})
	if v.Start != 105.5 || v.End != 113.5 || v.PerHour < 59.99 || v.PerHour > 60.01 || !v.Growing {
		t.Errorf("Judge() = %+v, want 105.5, 113.5 and 60 an hour", v)
	}
	if v := Judge(series, Tolerance{Least: 16}); v.Growing {
		t.Errorf("15 in all are too much where 16 are allowed: %v", v)
	}
}

// Two points at one time have no slope, and must not end in nonsense.
func TestPointsAtOneTimeAreJudgedToo(t *testing.T) {
	if v := Judge(make([]Point, 20), allowed); v.Growing || v.PerHour != 0 {
		t.Errorf("Judge() = %+v", v)
	}
	series := make([]Point, 20) // most of them at one time, and different
	for i := range series {
		series[i] = Point{time.Duration(max(0, i-15)) * time.Minute, float64(i)}
	}
	if v := Judge(series, Tolerance{Least: 1000}); !(v.PerHour > 0 && v.PerHour < 1000) || v.Growing {
		t.Errorf("Judge() = %+v", v)
	}
}

// Thousands of points are thinned out, and say the same.
func TestLongSeriesIsJudgedInAMoment(t *testing.T) {
	var series []Point
	for i := range 20000 {
		series = append(series, Point{time.Duration(i) * time.Second, float64(i)})
	}
	if v := Judge(series, allowed); !v.Growing || v.PerHour < 3599 || v.PerHour > 3601 {
		t.Errorf("Judge() = %+v", v)
	}
}

// Half of the points have something for a moment, and more of them towards the end.
func TestFloorIgnoresWhatComesAndGoes(t *testing.T) {
	tight := Tolerance{Share: 0.03}
	dice := rand.New(rand.NewPCG(3, 4))
	spikes := func(grows float64) []Point {
		series := drawn(func(x float64) float64 { return 300 + grows*x })
		for i := range series {
			if dice.Float64() < 0.1+0.65*float64(i)/float64(len(series)) {
				series[i].Value += 200
			}
		}
		return series
	}
	if v := Judge(spikes(0), tight); !v.Growing {
		t.Errorf("this series is too easy: %v", v)
	}
	if v := Judge(Floor(spikes(0), 10), tight); v.Growing {
		t.Errorf("what comes and goes is growth: %v", v)
	}
	if v := Judge(Floor(spikes(100), 10), tight); !v.Growing {
		t.Errorf("a leak below it is not: %v", v)
	}
}

func TestFloorIsTheLeastOfTheLastPoints(t *testing.T) {
	var series []Point
	for i, v := range []float64{5, 3, 4, 6, 7, 2} {
		series = append(series, Point{time.Duration(i), v})
	}
	for i, want := range []float64{5, 3, 3, 3, 4, 2} {
		if got := Floor(series, 3)[i]; got.Value != want || got.At != time.Duration(i) {
			t.Errorf("Floor()[%d] = %v, want %v", i, got, want)
		}
	}
	if series[2].Value != 4 {
		t.Error("the series itself is another one now")
	}
}
