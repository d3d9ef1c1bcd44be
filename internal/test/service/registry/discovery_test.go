package registry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// Decision 34.
func TestQuickRegistrationWaitsFiveSecondsForItsUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *registry.Config) { c.Discoverer = upstreams{} })
		began := time.Now()
		a := h.register(h.developer("mina"), `{"member":"m","upstream_url":"http://127.0.0.1/silent?key=sesame"}`)
		h.want(a, 200, 1, "an upstream that is silent")
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %v, want 5 s", took)
		}
		if w := a.body.Data.Warning; !strings.Contains(w, "private address") ||
			!strings.Contains(w, "; the upstream has not told its tools yet") {
			t.Errorf("warning = %q, want both reasons", w)
		}
		if h.reloads != 1 {
			t.Errorf("the bus was told %d times, want once", h.reloads)
		}
	})
}

func TestTroublesomeUpstreamCostsNoRegistration(t *testing.T) {
	for name, d := range map[string]registry.Discoverer{"none": nil, "one that fails": leaky{},
		"one that panics": upstreams{}} {
		h := newFixture(t, func(c *registry.Config) { c.Discoverer = d })
		a := h.register(h.developer("mina"), `{"member":"m","upstream_url":"https://broken.example.com/mcp?key=sesame"}`)
		h.want(a, 200, 1, name)
		if a.body.Data.ToolCount != 0 || !strings.Contains(a.body.Data.Warning, "it is asked again") || h.stored("m") == "" {
			t.Errorf("%s: %s, stored %q", name, a.text, h.stored("m"))
		}
		if strings.Contains(h.log.String(), "sesame") {
			t.Errorf("%s: the log holds the query of the URL: %s", name, h.log)
		}
	}
}

func TestDiscoveryForAnOutdatedRegistrationIsDropped(t *testing.T) {
	var h *fixture
	mina := ""
	h = newFixture(t, func(c *registry.Config) {
		c.Discoverer = discoverer(func(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
			h.want(h.register(mina, standard("m", "newer")), 200, 1, "a registration meanwhile")
			return upstreams{}.Discover(ctx, c)
		})
	})
	mina = h.developer("mina")
	a := h.register(mina, `{"member":"m","upstream_url":"https://mcp.example.com"}`)
	h.want(a, 200, 1, "the slower one")
	if got := h.stored("m"); !strings.HasSuffix(got, " newer") || a.body.Data.ToolCount != 0 ||
		!strings.Contains(a.body.Data.Warning, "registered anew") {
		t.Errorf("stored is %q, answered %s, want the newer one whole", got, a.text)
	}
}

type discoverer func(context.Context, storage.Capability) (toolplan.Discovery, error)

func (d discoverer) Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
	return d(ctx, c)
}

// leaky fails as net/http does: with the URL, whose query may be a key.
type leaky struct{}

func (leaky) Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
	return toolplan.Discovery{}, fmt.Errorf("discover: %w", urlError(c.UpstreamURL+"?key="+c.AuthSecret.Reveal()))
}

// failed is an error whose text everybody may read.
type failed string

func (f failed) Error() string  { return "post https://mcp.example.com?key=sesame: " + string(f) }
func (f failed) Public() string { return string(f) }

func TestQuickRegistrationSaysWhyThereAreNoTools(t *testing.T) {
	for want, found := range map[string]func() ([]toolplan.Skip, error){
		"yet (the upstream refuses its credential); it is asked again": func() ([]toolplan.Skip, error) {
			return nil, fmt.Errorf("discover: %w", failed("the upstream refuses its credential"))
		},
		"none of them can be used: see what was left out, and why; the first: a name that models cannot " +
			"use": func() ([]toolplan.Skip, error) {
			return []toolplan.Skip{{Pointer: "/tools/0", Reason: "a name that models cannot use"}}, nil
		},
	} {
		h := newFixture(t, func(c *registry.Config) {
			c.Discoverer = discoverer(func(context.Context, storage.Capability) (toolplan.Discovery, error) {
				skipped, err := found()
				return toolplan.Discovery{Skipped: skipped}, err
			})
		})
		a := h.want(h.register(h.developer("mina"), `{"member":"m","upstream_url":"https://mcp.example.com"}`), 200, 1,
			want)
		skipped, _ := found()
		if !strings.Contains(a.body.Data.Warning, want) || len(a.body.Data.Skipped) != len(skipped) ||
			strings.Contains(a.text, "sesame") {
			t.Errorf("answered is %s, want %q", a.text, want)
		}
	}
}
