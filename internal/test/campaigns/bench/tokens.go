//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// machineTokens is row 1: a token for an application itself.
func (b *bench) machineTokens() ([]figure, error) {
	floor, err := b.floor()
	if err != nil {
		return nil, err
	}
	defer floor.stop()
	hs, stop, err := b.services("machine")
	if err != nil {
		return nil, err
	}
	defer stop()
	post := func(h *service, path string) func(int, *conn) error {
		form := h.form("grant_type=client_credentials")
		return func(_ int, c *conn) error { return errors.Join(c.post(path, form), c.want(http.StatusOK)) }
	}
	all := []contender{{"floor", floor, 32, post(hs[0], "/form")}}
	for _, h := range hs {
		all = append(all, contender{"token", h.process, 32, post(h, "/oauth/token")})
	}
	other, err := b.provider()
	if err != nil {
		return nil, err
	}
	ours := len(all)
	if other != nil {
		defer other.stop()
		all = append(all, contender{provider, other, 32, providerToken})
	}
	s, err := b.rounds(all...)
	if err != nil {
		return nil, err
	}
	var more []figure
	if other != nil {
		more = append(more, b.besideFloor("token", "form+JSON handler", s[ours], s[0]))
	}
	r, spread := ratio(s[1], s[0], b.speed())
	used := median(s[1], cpu)
	return append([]figure{
		{work: "token, client_credentials, ES256, 32 clients", beside: "form+JSON handler", goal: 0.42, value: r,
			spread: spread, cpu: used, note: perSecond(s[1])},
		{work: "its processor time", beside: fmt.Sprintf("floor %.1f us", median(s[0], cpu)), goal: 90, atMost: true,
			value: used, unit: " us"},
	}, append(b.compared(s[1:ours]), more...)...), nil
}

func perSecond(s []sample) string { return number(median(s, rate)) + " a second" }

// codes is row 2: authorize with a session, then the exchange, both durable.
func (b *bench) codes() ([]figure, error) {
	program, err := b.compile(".", "peer", "test", "github.com/keystile/keystile/oauth/internal/engine")
	if err != nil {
		return nil, err
	}
	peer, err := spawn("peer at ", []string{"KEYSTILE_PEER=1"}, program, "-test.run=^$", "-test.bench=NaiveFosite",
		"-test.timeout=1h")
	if err != nil {
		return nil, err
	}
	defer peer.stop()
	hs, stop, err := b.services("codes")
	if err != nil {
		return nil, err
	}
	defer stop()
	all := []contender{{"naive fosite", peer, 8, func(_ int, c *conn) error { return peerCode(c) }}}
	for _, h := range hs {
		all = append(all, contender{"code", h.process, 8, func(_ int, c *conn) error { return h.code(c) }})
	}
	s, err := b.rounds(all...)
	if err != nil {
		return nil, err
	}
	r, spread := ratio(s[1], s[0], b.speed())
	note := fmt.Sprintf("%s, no error; peer %s with %.0f us", perSecond(s[1]), number(median(s[0], rate)),
		median(s[0], cpu))
	return append([]figure{{work: "code + PKCE cycle, durable, session present, 8 clients",
		beside: "naive fosite in memory", goal: 0.70, value: r, spread: spread, cpu: median(s[1], cpu), note: note}},
		b.compared(s[1:])...), nil
}

// peerCode is service.code at the peer.
func peerCode(c *conn) error {
	if err := c.get(authorizePath("/authorize", "peer"), ""); err != nil {
		return err
	}
	code, err := codeOf(c)
	if err != nil {
		return err
	}
	err = c.post("/token",
		"client_id=peer&client_secret=a-secret-that-is-long-enough-for-this&grant_type=authorization_code&code="+code+
			"&redirect_uri="+url.QueryEscape(redirectURI)+"&code_verifier="+verifier)
	return errors.Join(err, c.want(http.StatusOK))
}
