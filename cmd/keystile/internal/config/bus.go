package config

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage/client"
)

// Bus configures the tool bus: which pages may call it, how much at a time, and how tools are listed.
type Bus struct {
	Origins   []string // whose pages may call, beside the service's own
	PageSize  int      // tools on a page of the list
	MaxName   int      // characters of a tool's name
	PerCaller int      // concurrent calls of one caller
	MaxAnswer int64    // bytes of an upstream's answer
}

// within reads a whole number between two bounds.
func within(field *int, least, most int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return fmt.Errorf("it must be a whole number from %d to %d", least, most)
		}
		*field = n
		return nil
	}
}

// maxPerCaller bounds bus.per_caller: what one caller may have under way takes memory, see mcpbus.MaxAnswer.
const maxPerCaller = 1000

// setMaxAnswer reads a size between two bounds: less is of no use, and each call that is
// under way may hold several times as much in memory.
func (c *Config) setMaxAnswer(s string) error {
	var n int64
	if err := size(&n, 0)(s); err != nil {
		return err
	}
	if n < mcpbus.MinAnswer || n > mcpbus.MaxAnswer {
		return errors.New("it must be 64KiB to 16MiB")
	}
	c.Bus.MaxAnswer = n
	return nil
}

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
