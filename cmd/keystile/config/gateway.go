package config

import (
	"fmt"

	"github.com/keystile/keystile/internal/netguard"
)

// origins accepts what browsers send in Origin, and no star: the answers are for those who
// are signed in.
func origins(c *Config, s string) error {
	for _, word := range words(s) {
		var one Config
		if err := origin(func(c *Config) *string { return &c.BaseURL })(&one, word); err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		c.Origins = append(c.Origins, word)
	}
	return nil
}

func privateUpstreams(c *Config, s string) error {
	allow := words(s)
	if _, err := netguard.New(netguard.Config{Allow: allow}); err != nil {
		return err
	}
	c.PrivateUpstreams = allow
	return nil
}
