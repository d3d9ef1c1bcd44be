package mcpbus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/sample"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/mcpbus/internal/mcpcall"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// UpstreamsConfig holds the parameters of NewUpstreams. The zero value calls public addresses only.
//
// A call allocates some 12 bytes for each byte of an answer, 42 where each has to be escaped: 64 concurrent
// calls with 1 MiB each hold at most some 750 MB, usually far less. By default a caller may have half of the
// calls that an upstream takes, so that none fills one alone.
//
// An outgoing request names the services it has come through, and a request that has passed through here before
// is refused with 508 (RFC 5842): nothing else reveals an upstream that is this service under another name. Two
// services may call one another's tools.
//
// Calls to https://sample.keystile.internal are answered in the process: the sample API that the console offers.
type UpstreamsConfig struct {
	AllowPrivateUpstreams []string // private networks (CIDR), addresses and host:port that may be called
	// bytes of an answer to a call, decompressed and as UTF-8; MinAnswer to MaxAnswer, 0: 1 MiB
	MaxAnswer int64
	Log       *slog.Logger // nil: slog.Default()
}

// Upstreams is an Invoker and a Discoverer: tools with a plan are called by HTTP, the others by
// their name at an MCP endpoint. All requests go through one dialer, which refuses private
// addresses whatever a name resolves to. Close it after the Bus.
type Upstreams struct {
	dialer *netguard.Guard
	rest   *restcall.Caller
	mcp    *mcpcall.Client
	plans  plans
	log    *slog.Logger
}

// NewUpstreams makes an Upstreams. Its error names what is wrong with the Config.
func NewUpstreams(c UpstreamsConfig) (*Upstreams, error) {
	if c.MaxAnswer != 0 && (c.MaxAnswer < MinAnswer || c.MaxAnswer > MaxAnswer) {
		return nil, errors.New("mcpbus: MaxAnswer is 64 KiB to 16 MiB, or 0 for 1 MiB")
	}
	// The capability sets the time limit of a call; the dialer must not end it earlier.
	dialer, err := netguard.New(netguard.Config{Allow: c.AllowPrivateUpstreams, HeaderTimeout: storage.MaxTimeout})
	if err != nil {
		return nil, fmt.Errorf("mcpbus: AllowPrivateUpstreams: %w", err)
	}
	u := &Upstreams{dialer: dialer, log: c.Log, plans: plans{cache.New[planKey, readyTool](planCapacity)}}
	if u.log == nil {
		u.log = slog.Default()
	}
	transport := span.Transport(sample.Transport(dialer.Transport()))
	if u.rest, err = restcall.New(restcall.Config{Transport: transport,
		MaxResponse: c.MaxAnswer}); err != nil {
		return nil, err
	}
	u.mcp, err = mcpcall.New(mcpcall.Config{Transport: transport, MaxAnswer: c.MaxAnswer})
	return u, err
}

// Close ends the MCP sessions at upstreams and closes all connections.
func (u *Upstreams) Close(ctx context.Context) error {
	return errors.Join(u.mcp.Close(ctx), u.dialer.Close(ctx))
}

// Call implements Invoker.
func (u *Upstreams) Call(ctx context.Context, c storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (result Result, err error) {
	if t.Call == nil {
		result, err = u.callByName(ctx, c, t, arguments)
	} else {
		result, err = u.callPlan(ctx, c, t, arguments)
	}
	if result.Cause != nil {
		u.log.InfoContext(ctx, "an upstream failed", "member", c.Member, "tool", t.Name, "err", result.Cause)
	}
	return result, err
}

func (u *Upstreams) callPlan(ctx context.Context, c storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (Result, error) {
	ready, err := u.plans.of(c, t)
	if err != nil {
		return Result{}, err
	}
	r, err := u.rest.Call(ctx, ready.upstream, ready.plan, arguments)
	return fromREST(r), err
}

func restUpstream(c storage.Capability) restcall.Upstream {
	return restcall.Upstream{BaseURL: c.UpstreamURL, AuthType: c.AuthType, AuthIn: c.AuthIn, AuthName: c.AuthName,
		Secret: c.AuthSecret, Headers: c.SecretHeaders(), Timeout: c.CallTimeout()}
}

func (u *Upstreams) callByName(ctx context.Context, c storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (Result, error) {
	arguments, err := toolschema.Restore(t.InputSchema, t.RemoteArgs, arguments)
	if err != nil {
		return textError("The call was not sent: " + err.Error() + "."), nil
	}
	r, err := u.mcp.Call(ctx, mcpUpstream(c), cmp.Or(t.RemoteName, t.Name), arguments)
	return Result{
		IsError: r.IsError, Content: r.Content, Structured: r.Structured,
		Dispatched: r.Dispatched, Status: r.Status, Bytes: r.Bytes, Cause: r.Cause,
	}, err
}

func mcpUpstream(c storage.Capability) mcpcall.Upstream {
	return mcpcall.Upstream{URL: c.UpstreamURL, Member: c.Member, AuthType: c.AuthType, AuthIn: c.AuthIn,
		AuthName: c.AuthName, Secret: c.AuthSecret, Headers: c.SecretHeaders(), Timeout: c.CallTimeout()}
}

// Discover implements Discoverer, also that of package registry.
func (u *Upstreams) Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
	found, err := u.mcp.Discover(ctx, mcpUpstream(c))
	for i, t := range found.Tools {
		if remote := found.Names[t.Name]; remote != t.Name {
			found.Tools[i].RemoteName = remote
		}
	}
	return toolplan.Discovery{Tools: found.Tools, Skipped: found.Skipped, Again: found.TTL}, err
}

// plans caches what is made of tools before they are called.
type plans struct {
	known *cache.Cache[planKey, readyTool]
}

// readyTool is a tool of one version of a capability, whose URL and secret belong to that version too.
type readyTool struct {
	plan     *restcall.Plan
	upstream restcall.Upstream
}

type planKey struct {
	member, name string
	version      int64
}

const planCapacity = 20_000 // cached plans, some 12 KB each

func (p *plans) of(c storage.Capability, t toolplan.Tool) (readyTool, error) {
	key := planKey{c.Member, t.Name, c.Version}
	if known, ok := p.known.Get(key); ok {
		return known, nil
	}
	plan, err := restcall.Compile(t)
	if err != nil {
		return readyTool{}, err
	}
	return p.known.GetOrPut(key, readyTool{plan, restUpstream(c).Prepared()}), nil
}
