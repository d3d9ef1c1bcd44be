package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/mcpcall"
	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

// upstreams is how tools are called: those with a plan by HTTP, the others by their name at
// an MCP endpoint. Nothing goes out but through one guard.
type upstreams struct {
	guard *netguard.Guard
	rest  *restcall.Caller
	mcp   *mcpcall.Client
	plans plans
	log   *slog.Logger
}

func newUpstreams(allowPrivate []string, log *slog.Logger) (*upstreams, error) {
	guard, err := netguard.New(netguard.Config{Allow: allowPrivate})
	if err != nil {
		return nil, err
	}
	u := &upstreams{guard: guard, log: log}
	if u.rest, err = restcall.New(restcall.Config{Transport: guard.Transport()}); err != nil {
		return nil, err
	}
	u.mcp, err = mcpcall.New(mcpcall.Config{Transport: guard.Transport()})
	return u, err
}

// Call implements mcpbus.Invoker.
func (u *upstreams) Call(ctx context.Context, c storage.Capability, t storage.Tool, arguments json.RawMessage) (result mcpbus.Result, err error) {
	if t.Call == nil {
		result, err = u.named(ctx, c, t, arguments)
	} else {
		result, err = u.planned(ctx, c, t, arguments)
	}
	if result.Cause != nil {
		u.log.InfoContext(ctx, "an upstream failed", "member", c.Member, "tool", t.Name, "err", result.Cause)
	}
	return result, err
}

func (u *upstreams) planned(ctx context.Context, c storage.Capability, t storage.Tool, arguments json.RawMessage) (mcpbus.Result, error) {
	plan, err := u.plans.of(c, t)
	if err != nil {
		return mcpbus.Result{}, err
	}
	r, err := u.rest.Call(ctx, restcall.Upstream{BaseURL: c.UpstreamURL, AuthType: c.AuthType, AuthIn: c.AuthIn, AuthName: c.AuthName, Secret: c.AuthSecret}, plan, arguments)
	return mcpbus.FromREST(r), err
}

func (u *upstreams) named(ctx context.Context, c storage.Capability, t storage.Tool, arguments json.RawMessage) (mcpbus.Result, error) {
	name := t.Name
	if t.RemoteName != "" {
		name = t.RemoteName
	}
	r, err := u.mcp.Call(ctx, endpoint(c), name, arguments)
	return mcpbus.Result(r), err
}

func endpoint(c storage.Capability) mcpcall.Upstream {
	return mcpcall.Upstream{URL: c.UpstreamURL, Member: c.Member, AuthType: c.AuthType, AuthIn: c.AuthIn, AuthName: c.AuthName, Secret: c.AuthSecret}
}

// find asks an MCP endpoint for its tools.
func (u *upstreams) find(ctx context.Context, c storage.Capability) (mcpcall.Found, error) {
	found, err := u.mcp.Discover(ctx, endpoint(c))
	for i, t := range found.Tools {
		if remote := found.Names[t.Name]; remote != t.Name {
			found.Tools[i].RemoteName = remote
		}
	}
	return found, err
}

// asBus and asRegistrar are what the two rooms call find.
type (
	asBus       struct{ *upstreams }
	asRegistrar struct{ *upstreams }
)

func (u asBus) Discover(ctx context.Context, c storage.Capability) ([]storage.Tool, time.Duration, error) {
	found, err := u.find(ctx, c)
	return found.Tools, found.TTL, err
}

func (u asRegistrar) Discover(ctx context.Context, c storage.Capability) ([]storage.Tool, []storage.Skip, error) {
	found, err := u.find(ctx, c)
	return found.Tools, found.Skipped, err
}

// plans remembers what was worked out of tools.
type plans struct {
	known sync.Map // planKey: *restcall.Plan
	room  atomic.Int64
}

type planKey struct {
	member, name string
	version      int64
}

const planRoom = 20_000 // plans to remember, some 12 KB each; beyond it all are forgotten

func (p *plans) of(c storage.Capability, t storage.Tool) (*restcall.Plan, error) {
	key := planKey{c.Member, t.Name, c.Version}
	if known, ok := p.known.Load(key); ok {
		return known.(*restcall.Plan), nil
	}
	plan, err := restcall.Compile(t)
	if err != nil {
		return nil, err
	}
	if _, there := p.known.LoadOrStore(key, plan); !there && p.room.Add(1) > planRoom {
		p.known.Clear()
		p.room.Store(0)
	}
	return plan, nil
}

func (u *upstreams) close(ctx context.Context) error {
	return errors.Join(u.mcp.Close(ctx), u.guard.Close(ctx))
}
