package config

import (
	"fmt"
	"time"

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

// checkStreams keeps limits.stream_idle from cutting what is in order: the bus says every 20
// seconds that a stream is alive, and a call to a service is silent for as long as its
// timeout lets it.
func (l *loader) checkStreams(c *Config) {
	if c.StreamIdle < time.Minute {
		l.complain("limits.stream_idle: %s is less than 1m: streams that are alive would be cut", c.StreamIdle)
	}
	for _, p := range c.Products {
		if p.Timeout > c.StreamIdle {
			l.complain("limits.stream_idle: %s is less than the timeout of the product %s, %s: its calls would be cut while they are waited for", c.StreamIdle, p.Name, p.Timeout)
		}
	}
}
