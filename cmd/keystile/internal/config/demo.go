package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// demo is true, false or, left out, what settleDemo makes of it.
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
