package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// origins accepts what browsers send in Origin, and no star: what is listed is let in.
func origins(at *[]string) func(string) error {
	return func(s string) error {
		for _, word := range words(s) {
			var one string
			if err := origin(&one)(word); err != nil {
				return fmt.Errorf("%q: %w", word, err)
			}
			*at = append(*at, word)
		}
		return nil
	}
}

// setHosts accepts names and addresses as they stand in a Host header, without a port: every
// port will do.
func (c *Config) setHosts(s string) error {
	for _, word := range words(s) {
		host, err := storage.NormalizeDomain(word)
		if err != nil || strings.Contains(word, "/") {
			return fmt.Errorf("%q is neither a name nor an address", word)
		}
		if _, port, err := net.SplitHostPort(host); err == nil && port != "" {
			return fmt.Errorf("%q has a port: leave it out, every port will do", word)
		}
		c.AdminHosts = append(c.AdminHosts, host)
	}
	return nil
}

// private reads a list of addresses that may be reached although they are not public.
func private(at *[]string) func(string) error {
	return func(s string) error {
		allow := words(s)
		if _, err := netguard.New(netguard.Config{Allow: allow}); err != nil {
			return err
		}
		*at = allow
		return nil
	}
}

// tiers are those whose rate can be in shadow.
var tiers = []string{storage.TierFree, storage.TierWhiteLabel, storage.TierEnterprise}

func (c *Config) setShadow(s string) error {
	for _, word := range words(s) {
		switch {
		case word == "address":
			c.Shadow.Addresses = true
		case word == "application":
			c.Shadow.Tiers = tiers
		case !slices.Contains(tiers, word):
			return fmt.Errorf("%q is none of address, application, %s: no other limit can be let through", word,
				strings.Join(tiers, ", "))
		case !slices.Contains(c.Shadow.Tiers, word):
			c.Shadow.Tiers = append(slices.Clip(c.Shadow.Tiers), word)
		}
	}
	return nil
}

func (c *Config) setFreeRepeats(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 100 {
		return errors.New("it must be a whole number from 0 to 100")
	}
	c.FreeRepeats = n
	return nil
}

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
