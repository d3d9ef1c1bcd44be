package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// unless0 lets a key be empty or 0, which is no limit.
func unless0(set func(string) error) func(string) error {
	return func(s string) error {
		if s == "0" || s == "" {
			return nil
		}
		return set(s)
	}
}

const day = 24 * time.Hour

// ParseDays reads a duration that may be in days.
func ParseDays(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if days, is := strings.CutSuffix(s, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * day
	}
	if err != nil || d <= 0 {
		return 0, errors.New("a duration has a number above 0 and a unit: d, h, m or s")
	}
	return d, nil
}

// keep is for how long something is kept; less than a day would be a slip of the unit.
func keep(at *time.Duration) func(string) error {
	return func(s string) error {
		d, err := ParseDays(s)
		if err == nil && d < day {
			err = errors.New("it must be at least 1d")
		}
		if err == nil {
			*at = d
		}
		return err
	}
}

var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// size reads a number of bytes with a unit.
func size(at *int64, least int64) func(string) error {
	return func(s string) error {
		for _, u := range units {
			number, is := strings.CutSuffix(s, u.name)
			if !is {
				continue
			}
			n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 20)
			if err != nil {
				break
			}
			if int64(n)*u.bytes < least {
				return fmt.Errorf("it must be at least %dMiB", least>>20)
			}
			*at = int64(n) * u.bytes
			return nil
		}
		return errors.New("a size has a whole number and a unit: KiB, MiB, GiB or TiB")
	}
}
