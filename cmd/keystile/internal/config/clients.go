package config

import (
	"fmt"

	"github.com/keystile/keystile/storage/client"
)

// Clients configures which applications that no user registered here may ask users to sign in.
type Clients struct {
	Documents    string   // open, listed or off; "": it follows from where the service is reached
	Hosts        []string // whose documents are admitted where they are listed; nil: those that are known
	AllowPrivate []string // what documents may be read from although it is private
	Registration string   // capped or off
}

func (c *Config) setClientHosts(s string) error {
	var hosts []string
	for _, host := range words(s) {
		if err := client.CheckHost(host); err != nil {
			return fmt.Errorf("%q: %w", host, err)
		}
		hosts = append(hosts, host)
	}
	c.Clients.Hosts = hosts
	return nil
}
