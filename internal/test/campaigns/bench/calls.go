//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
)

// proxied is row 4: a call through the gateway, checked, counted, journalled and audited,
// beside the same call through a reverse proxy that does nothing else, beside the service
// itself and, if they are asked for, through the peers that are on the machine. All of them
// are sent the token, which takes time to read.
func (b *bench) proxied() ([]figure, error) {
	service, err := b.floor()
	if err != nil {
		return nil, err
	}
	defer service.stop()
	direct, err := b.floor() // of its own, whose processor time is of no other contender
	if err != nil {
		return nil, err
	}
	defer direct.stop()
	plain, err := b.floor("--proxy", service.address)
	if err != nil {
		return nil, err
	}
	defer plain.stop()
	hs, stop, err := b.services("proxied", "--gateway-products", "svc=http://"+service.address)
	if err != nil {
		return nil, err
	}
	defer stop()
	plain.behind = []*process{service}
	call := func(path, bearer string) func(int, *conn) error {
		return func(_ int, c *conn) error { return errors.Join(c.get(path, bearer), c.want(http.StatusOK)) }
	}
	bearer, err := hs[0].machine()
	if err != nil {
		return nil, err
	}
	all := []contender{{"service", direct, readers, call("/json", bearer)},
		{"reverse proxy", plain, readers, call("/json", bearer)}}
	for _, h := range hs {
		h.behind = []*process{service}
		bearer, err := h.machine()
		if err != nil {
			return nil, err
		}
		all = append(all, contender{"gateway", h.process, readers, call("/svc/json", bearer)})
	}
	ours := len(all)
	some, err := b.others(service, hs[0])
	defer stopAll(some)
	if err != nil {
		return nil, err
	}
	for _, o := range some {
		all = append(all, contender{o.name, o.process, readers, call("/json", bearer)})
	}
	s, err := b.rounds(all...)
	if err != nil {
		return nil, err
	}
	beside, spread := ratio(s[2], s[1], b.speed())
	itself, _ := ratio(s[2], s[0], b.speed())
	return append([]figure{{work: "call through the gateway, 64 clients", beside: "tuned ReverseProxy", goal: 1,
		value: beside, spread: spread,
		cpu: median(s[2], cpu), note: fmt.Sprintf("%s; %.2f of the service itself; proxy %.1f us", perSecond(s[2]), itself,
			median(s[1], cpu))}}, append(b.compared(s[2:ours]), b.beaten(some, s[1], s[ours:])...)...), nil
}

// machine is a header line with a token of the application itself.
func (h *service) machine() (string, error) {
	c, err := dial(h.address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.post("/oauth/token", h.form("grant_type=client_credentials")); err != nil {
		return "", err
	}
	token, err := c.member("access_token")
	return "Authorization: Bearer " + token + "\r\n", err
}
