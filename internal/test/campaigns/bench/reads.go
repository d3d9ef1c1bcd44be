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
	hs, stop, err := b.services("userinfo")
	if err != nil {
		return nil, err
	}
	defer stop()
	var all []contender
	for _, h := range hs {
		bearers, err := h.bearers(live)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = append(all, presenting("floor", floor, "/json", bearers))
		}
		all = append(all, presenting("userinfo", h.process, "/oauth/userinfo", bearers))
	}
	s, err := b.rounds(all...)
	if err != nil {
		return nil, err
	}
	r, spread := ratio(s[1], s[0], b.speed())
	return append([]figure{{work: "userinfo, 20,000 live tokens, 64 clients", beside: "JSON handler", goal: 0.92,
		value: r, spread: spread, cpu: median(s[1], cpu),
		note: fmt.Sprintf("%s; floor %.1f us", perSecond(s[1]), median(s[0], cpu))}}, b.compared(s[1:])...), nil
}

// presenting is the work of reading a path with one token after another.
func presenting(name string, on *process, path string, bearers []string) contender {
	next := make([]int, readers)
	return contender{name, on, readers, func(client int, c *conn) error {
		next[client]++
		return errors.Join(c.get(path, bearers[(client*stride+next[client])%live]), c.want(http.StatusOK))
	}}
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
	hs, stop, err := b.services("documents")
	if err != nil {
		return nil, err
	}
	defer stop()
	other, err := b.provider()
	if err != nil {
		return nil, err
	}
	if other != nil {
		defer other.stop()
	}
	var figures []figure
	for _, d := range []document{
		{work: "discovery", path: "/.well-known/openid-configuration", other: "/.well-known/openid-configuration"},
		{work: "JWKS", path: "/oauth/jwks", other: "/jwks"},
	} {
		whole, err := b.document(d, floor, hs, other)
		if err != nil {
			return nil, err
		}
		d.work, d.same = d.work+", 304 by its ETag", true
		same, err := b.document(d, floor, hs, nil)
		if err != nil {
			return nil, err
		}
		figures = append(append(figures, whole...), same...)
	}
	return figures, nil
}

// document is one that never changes, and its path at the other provider.
type document struct {
	work, path, other string
	same              bool // the client has it already
}

// document measures one, in rounds of its own.
func (b *bench) document(d document, floor *process, hs []*service, other *process) ([]figure, error) {
	size, _, err := hs[0].sizeOf(d.path)
	if err != nil {
		return nil, err
	}
	all := []contender{{"floor", floor, readers, read(fmt.Sprint("/static/", size), "", http.StatusOK)}}
	for _, h := range hs {
		header, status := "", http.StatusOK
		if d.same {
			_, etag, err := h.sizeOf(d.path)
			if err != nil {
				return nil, err
			}
			header, status = "If-None-Match: "+etag+"\r\n", http.StatusNotModified
		}
		all = append(all, contender{d.work, h.process, readers, read(d.path, header, status)})
	}
	ours := len(all)
	if other != nil {
		all = append(all, contender{provider, other, readers, read(d.other, "", http.StatusOK)})
	}
	s, err := b.rounds(all...)
	if err != nil {
		return nil, err
	}
	r, spread := ratio(s[1], s[0], b.speed())
	beside := fmt.Sprintf("%d static bytes", size)
	figures := append([]figure{{work: d.work + ", 64 clients", beside: beside, goal: 1, value: r, spread: spread,
		cpu: median(s[1], cpu), note: fmt.Sprintf("%s; floor %.1f us", perSecond(s[1]), median(s[0], cpu))}},
		b.compared(s[1:ours])...)
	if other != nil {
		figures = append(figures, b.besideFloor(d.work, beside, s[ours], s[0]))
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
