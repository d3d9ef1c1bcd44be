//go:build !linux

package command

import "math"

// disk knows nothing here.
func disk(string) (free, size float64) { return math.NaN(), math.NaN() }
