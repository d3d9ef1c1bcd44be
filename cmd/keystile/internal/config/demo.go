package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setDemo reads true, false or, left out, what settleDemo makes of it.
func (c *Config) setDemo(s string) error {
	c.DemoUnasked = s == ""
	return maybe(boolean(&c.Demo))(s)
}

// settleDemo decides whether there is a demo if nobody has said so: it is for trying the
// service out on one's own machine. A base_url that names this machine says that; without
// one, a listener does that other machines cannot connect to. One on all addresses does
// not, although its base_url is made up as localhost.
func (c *Config) settleDemo() {
	if !c.DemoUnasked {
		return
	}
	host, _, _ := net.SplitHostPort(c.Listen)
	why := "listen is on this machine alone"
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil {
			return
		}
		host, why = u.Hostname(), "base_url is this machine"
	}
	if c.Demo = Loopback(host); !c.Demo {
		why = "other machines reach the service"
	}
	c.settled("demo", strconv.FormatBool(c.Demo), "default: "+why)
}

// Asked reports whether somebody has said what a key is: in a flag, the environment or a file.
func (c *Config) Asked(key string) bool {
	asked := func(v Value) bool { return v.Key == key && !strings.HasPrefix(v.Source, "default") }
	return slices.ContainsFunc(c.Values, asked)
}

// settled says what became of a key that is decided by others.
func (c *Config) settled(key, text, source string) {
	i := slices.IndexFunc(c.Values, func(v Value) bool { return v.Key == key })
	c.Values[i].Text, c.Values[i].Source = text, source
}

// TakeSocket says that the service listens at a socket that somebody else has opened, whatever the
// sources name: what follows from the address follows from this one.
func (c *Config) TakeSocket(address string) {
	c.Listen = address
	c.settled("listen", address, "the socket of the service manager")
	c.settleDemo()
}

// Loopback reports whether a host, without port and brackets, names the machine that asks:
// localhost and what is below it (RFC 6761 6.3), or a loopback address.
func Loopback(host string) bool {
	host = strings.ToLower(host)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}

// drainShared lets a node of several go on after a signal to stop if nobody has said for how long: longer than
// balancers take to ask again, as those of the examples do each 500 ms. Without it a connection that the system
// has made already may be closed unanswered.
const drainShared = time.Second

// setDrain reads a duration, 0 for none or, left out, what settleDrain makes of it.
func (c *Config) setDrain(s string) error {
	c.drainUnasked = s == ""
	return unless0(duration(&c.Drain))(s)
}

// settleDrain decides how long a node drains if nobody has said so: where a database has an address of its own,
// other nodes may serve from it behind a balancer.
func (c *Config) settleDrain() {
	if !c.drainUnasked {
		return
	}
	if !strings.Contains(c.StorageURL.Reveal(), "://") {
		c.settled("drain", "0", "default: no other node shares the store")
		return
	}
	c.Drain = drainShared
	c.settled("drain", c.Drain.String(), "default: several nodes can share the store")
}
