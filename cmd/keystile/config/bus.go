package config

import (
	"errors"
	"strconv"

	"github.com/keystile/keystile/mcpbus"
)

// Bus configures the tool bus: which pages may call it, and how much it answers at a time.
type Bus struct {
	Origins   []string // whose pages may call, beside the service's own
	PageSize  int      // tools on a page of the list
	MaxAnswer int64    // bytes of an upstream's answer
}

func pageSize(c *Config, s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > mcpbus.MaxPageSize {
		return errors.New("it is a whole number from 1 to " + strconv.Itoa(mcpbus.MaxPageSize))
	}
	c.Bus.PageSize = n
	return nil
}

// maxAnswer is a size between two bounds: less is no use to anybody, and each call that is
// under way may hold several times as much in memory.
func maxAnswer(c *Config, s string) error {
	var n int64
	if err := size(func(*Config) *int64 { return &n }, 0)(c, s); err != nil {
		return err
	}
	if n < mcpbus.LeastAnswer || n > mcpbus.MostAnswer {
		return errors.New("it is 64KiB to 16MiB")
	}
	c.Bus.MaxAnswer = n
	return nil
}
