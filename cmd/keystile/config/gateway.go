package config

import (
	"fmt"
	"net"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// origins accepts what browsers send in Origin, and no star: what is listed is let in.
func origins(at func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, s string) error {
		for _, word := range words(s) {
			var one Config
			if err := origin(func(c *Config) *string { return &c.BaseURL })(&one, word); err != nil {
				return fmt.Errorf("%q: %w", word, err)
			}
			*at(c) = append(*at(c), word)
		}
		return nil
	}
}

// hosts accepts names and addresses as they stand in a Host header, without a port: every
// port will do.
func hosts(c *Config, s string) error {
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

func privateUpstreams(c *Config, s string) error {
	allow := words(s)
	if _, err := netguard.New(netguard.Config{Allow: allow}); err != nil {
		return err
	}
	c.PrivateUpstreams = allow
	return nil
}
