package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/internal/connections"
)

// listen opens an address that was given by a flag.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	l, err := connections.Listen(ctx, address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program: stop it, or listen elsewhere with %s 127.0.0.1:8081 (port "+
			"0 is any free one)", address, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: this user may not listen on a port below 1024: choose another one with %s: %w", address,
			flag, err)
	case err != nil:
		return nil, fmt.Errorf("%w: give an address of this machine with %s, such as 127.0.0.1:8080", err, flag)
	}
	return l, nil
}

// baseURL is the origin of a listener: its address as it was asked for, with the port it
// got. A listener on all addresses is called localhost, which works on this machine.
func baseURL(asked string, got net.Addr) string {
	host, _, _ := net.SplitHostPort(asked)
	if everywhere(host) {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(got.String())
	if port == "80" {
		return "http://" + strings.TrimSuffix(net.JoinHostPort(strings.ToLower(host), "80"), ":80")
	}
	return "http://" + net.JoinHostPort(strings.ToLower(host), port)
}

// origin returns the origin of the service, also while nobody listens.
func origin(c *config.Config) string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	_, text, _ := net.SplitHostPort(c.Listen)
	port, _ := strconv.Atoi(text) // the configuration takes numbers alone
	return baseURL(c.Listen, &net.TCPAddr{Port: port})
}

// everywhere reports whether a listener's host means all addresses of the machine.
func everywhere(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || err == nil && addr.IsUnspecified()
}

// advise warns of what works here and now but not as it is meant.
func advise(log *slog.Logger, c *config.Config, base string) {
	if c.AdminListen != "" && !local(c.AdminListen) {
		log.Warn("other machines can connect to the admin listener and read metrics and profiles, which ask for no "+
			"password: let only operators get there, and list the names they use in admin.hosts", "admin.listen", c.AdminListen)
	}
	host, _, _ := net.SplitHostPort(c.Listen)
	if c.BaseURL == "" && everywhere(host) {
		log.Warn("other machines can connect, but people can sign in from this one only: set base_url to the address they "+
			"use", "base_url", base)
	}
	if local(c.Listen) && !local(hostPort(base)) && len(c.TrustedProxies) == 0 {
		log.Warn("only a proxy on this machine can hand on what others ask, and none is trusted: all of them share the "+
			"rate of one address; set trusted_proxies to the proxy's", "base_url", base)
	}
	u, err := url.Parse(base)
	if err == nil && u.Scheme != "https" && !config.Loopback(u.Hostname()) {
		log.Warn("base_url is http, so passwords and tokens can be read on their way: put a proxy with https in front, and "+
			"say so in base_url", "base_url", base)
	}
}

// hostPort returns the host of an origin with its port, or some port.
func hostPort(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return origin
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))
}

// local reports whether only this machine can connect to an address.
func local(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return config.Loopback(host)
}
