//go:build linux

package main

import "slices"

// median of a figure over the rounds.
func median(samples []sample, of func(sample) float64) float64 {
	figures := make([]float64, len(samples))
	for i, s := range samples {
		figures[i] = of(s)
	}
	return middle(figures)
}

func middle(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// ratio is the median of the ratios of a figure, round by round, and how far the rounds lie
// apart.
func ratio(of, to []sample, figure func(sample) float64) (mid, spread float64) {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = figure(of[i]) / figure(to[i])
	}
	return middle(ratios), slices.Max(ratios) - slices.Min(ratios)
}

func rate(s sample) float64 { return s.rate }
func cpu(s sample) float64  { return s.cpu }
func p50(s sample) float64  { return float64(s.p50.Microseconds()) }

// perProcessor is the work that is done in a second of the server's processors.
func perProcessor(s sample) float64 { return 1e6 / s.cpu }
