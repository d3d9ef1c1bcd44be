//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// userInfo is row 5: 20,000 live tokens, each verified before.
func (b *bench) userInfo() ([]figure, error) {
	floor, err := b.floor()
	if err != nil {
		return nil, err
	}
	defer floor.stop()
	h, err := b.service("userinfo")
	if err != nil {
		return nil, err
	}
	defer h.stop()
	bearers, err := h.bearers(live)
	if err != nil {
		return nil, err
	}
	next := make([]int, readers)
	s, err := b.inTurns(
		contender{"floor", floor, readers, func(client int, c *conn) error {
			next[client]++
			return errors.Join(c.get("/json", bearers[(client*stride+next[client])%live]), c.want(http.StatusOK))
		}},
		contender{"userinfo", h.process, readers, func(client int, c *conn) error {
			next[client]++
			return errors.Join(c.get("/oauth/userinfo", bearers[(client*stride+next[client])%live]), c.want(http.StatusOK))
		}},
	)
	if err != nil {
		return nil, err
	}
	r, spread := ratio(s[1], s[0], rate)
	return []figure{{work: "userinfo, 20,000 live tokens, 64 clients", beside: "JSON handler", goal: 0.88, value: r,
		spread: spread,
		cpu:    median(s[1], cpu), note: fmt.Sprintf("%s; floor %.1f us", perSecond(s[1]), median(s[0], cpu))}}, nil
}

const (
	live    = 20_000
	readers = 64
	stride  = 313 // spreads the clients over the tokens
)

// bearers returns header lines with n access tokens of one user, each verified once.
func (h *service) bearers(n int) ([]string, error) {
	lines, errs := make([]string, n), make([]error, readers)
	var all sync.WaitGroup
	for client := range readers {
		all.Go(func() { errs[client] = h.collect(lines, client) })
	}
	all.Wait()
	return lines, errors.Join(errs...)
}

// collect fills every line whose turn it is with the access token of one more rotation.
func (h *service) collect(lines []string, client int) error {
	c, err := dial(h.address)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := h.code(c); err != nil {
		return err
	}
	handle, err := c.member("refresh_token")
	for i := client; i < len(lines) && err == nil; i += readers {
		var access string
		if handle, err = h.rotate(c, handle); err != nil {
			return err
		}
		if access, err = c.member("access_token"); err != nil {
			return err
		}
		lines[i] = "Authorization: Bearer " + access + "\r\n"
		err = errors.Join(c.get("/oauth/userinfo", lines[i]), c.want(http.StatusOK))
	}
	return err
}

// documents is row 6: what never changes, and the answer that it has not.
func (b *bench) documents() ([]figure, error) {
	floor, err := b.floor()
	if err != nil {
		return nil, err
	}
	defer floor.stop()
	h, err := b.service("documents")
	if err != nil {
		return nil, err
	}
	defer h.stop()
	other, err := b.provider()
	if err != nil {
		return nil, err
	}
	if other != nil {
		defer other.stop()
	}
	var figures []figure
	for _, d := range []struct{ work, path, other string }{
		{"discovery", "/.well-known/openid-configuration", "/.well-known/openid-configuration"},
		{"JWKS", "/oauth/jwks", "/jwks"},
	} {
		size, etag, err := h.sizeOf(d.path)
		if err != nil {
			return nil, err
		}
		all := []contender{
			{"floor", floor, readers, read(fmt.Sprint("/static/", size), "", http.StatusOK)},
			{d.work, h.process, readers, read(d.path, "", http.StatusOK)},
			{d.work + " 304", h.process, readers, read(d.path, "If-None-Match: "+etag+"\r\n", http.StatusNotModified)},
		}
		if other != nil {
			all = append(all, contender{provider, other, readers, read(d.other, "", http.StatusOK)})
		}
		s, err := b.inTurns(all...)
		if err != nil {
			return nil, err
		}
		whole, wholeSpread := ratio(s[1], s[0], rate)
		same, sameSpread := ratio(s[2], s[0], rate)
		beside := fmt.Sprintf("%d static bytes", size)
		figures = append(figures,
			figure{work: d.work + ", 64 clients", beside: beside, goal: 0.95, value: whole, spread: wholeSpread,
				cpu:  median(s[1], cpu),
				note: fmt.Sprintf("%s; floor %.1f us", perSecond(s[1]), median(s[0], cpu))},
			figure{work: d.work + ", 304 by its ETag", beside: beside, goal: 0.95, value: same, spread: sameSpread,
				cpu: median(s[2], cpu), note: perSecond(s[2])})
		if other != nil {
			figures = append(figures, besideFloor(d.work, beside, s[3], s[0]))
		}
	}
	return figures, nil
}

func read(path, header string, status int) func(int, *conn) error {
	return func(_ int, c *conn) error { return errors.Join(c.get(path, header), c.want(status)) }
}

func (h *service) sizeOf(path string) (size int, etag string, err error) {
	resp, err := http.Get("http://" + h.address + path)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	if etag = resp.Header.Get("Etag"); !strings.HasPrefix(etag, `"`) {
		return 0, "", fmt.Errorf("%s has no ETag", path)
	}
	return int(resp.ContentLength), etag, nil
}
