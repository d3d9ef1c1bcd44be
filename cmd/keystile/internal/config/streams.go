package config

import "time"

// checkStreams keeps limits.stream_idle and gateway.stream_life from cutting what is in order: the bus says every 20
// seconds that a stream is alive, and a call to a service is silent for as long as its
// timeout lets it.
func (l *loader) checkStreams(c *Config) {
	if c.StreamIdle < time.Minute {
		l.complain("limits.stream_idle: %s is less than 1m: streams that are alive would be cut", c.StreamIdle)
	}
	for _, p := range c.Products {
		if p.Timeout > c.StreamIdle {
			l.complain("limits.stream_idle: %s is less than the timeout of the product %s, %s: its calls would be cut while "+
				"they are waited for", c.StreamIdle, p.Name, p.Timeout)
		}
		if p.Timeout > c.StreamLife {
			l.complain("gateway.stream_life: %s is less than the timeout of the product %s, %s: its calls would be cut while "+
				"they are waited for", c.StreamLife, p.Name, p.Timeout)
		}
	}
}
