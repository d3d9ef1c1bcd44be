package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/registry/internal/ownbus"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// tools reads the tools of a request. The caller must hold a parser slot.
func (g *Registry) tools(ctx context.Context, q Request) (*openapi.Result, error) {
	o := openapi.Options{Member: q.Member, ResolveRefs: g.c.ResolveRefs}
	if q.ResolveRefs != nil {
		o.ResolveRefs = *q.ResolveRefs
	}
	o.Fixed = q.upstream().Fixed().By
	read, document := openapi.Parse, q.OpenAPI
	if q.OpenAPI == nil {
		read, document = openapi.StaticTools, q.StaticTools
	}
	r, err := read(ctx, document, o)
	if err != nil {
		return nil, err
	}
	r.Skipped = slices.Concat(q.unknownFields, r.Skipped)
	return r, keepCallable(r, ownbus.Leads(g.base, q.UpstreamURL))
}

var errLeadsToBus = errors.New("this may call the bus itself, and calls would come back to where they came from")

// keepCallable leaves out the tools that cannot be called: no request can have their path, or it
// leads to the bus itself.
func keepCallable(r *openapi.Result, toBus func(toolplan.Tool) bool) error {
	tools := r.Tools[:0]
	for i, t := range r.Tools {
		if t.Call != nil {
			_, err := restcall.Compile(t)
			if err == nil && toBus(t) {
				err = errLeadsToBus
			}
			if err != nil {
				r.Skipped = append(r.Skipped, toolplan.Skip{Pointer: toolschema.Text(r.Pointers[i]),
					Reason: whyNotCallable(err)})
				continue
			}
		}
		tools = append(tools, t)
	}
	r.Tools, r.Skipped = tools, shortened(r.Skipped)
	if len(tools) == 0 {
		return &openapi.Rejection{Errcode: openapi.ErrcodeEmpty, Skipped: r.Skipped,
			Msg: "no operation of the document can be called: see what was left out"}
	}
	return nil
}

// maxSkips bounds a list of what was left out that is shown or stored: authors of a document read the first ones only.
const maxSkips = 100

// shortened returns a list of what was left out as it is shown and stored.
func shortened(list []toolplan.Skip) []toolplan.Skip {
	if len(list) <= maxSkips {
		return list
	}
	more := len(list) - maxSkips + 1
	return append(list[:maxSkips-1:maxSkips-1], toolplan.Skip{Reason: fmt.Sprintf("%d more pieces are left out", more)})
}

// whyNotCallable returns the reason without the name of the package.
func whyNotCallable(err error) string {
	if why := errors.Unwrap(err); why != nil {
		err = why
	}
	return toolschema.Text(err.Error())
}

// Warnings of a quick registration whose tools are not known yet.
const (
	toolsPending = "the upstream has not told its tools yet%s; it is asked again" // why in brackets
	noTools      = "the upstream lists no tools that can be used; it is asked again"
	noneUsable   = "the upstream lists tools, and none of them can be used: see what was left out, and why; " +
		"the first: "
	noToolsPinned       = noTools + ", and what it lists later is held until you accept it"
	registeredMeanwhile = "the capability was registered anew at the same time"
)

// discoveryTimeout bounds how long a registration waits for its upstream.
const discoveryTimeout = 5 * time.Second

// withDiscoveredTools adds the tools that the upstream lists, if it answers in time, at the place where the capability
// is stored. The registration is valid without them: the bus repeats the discovery.
func (g *Registry) withDiscoveredTools(ctx context.Context, p *storage.Place, done Registered) Registered {
	if g.c.Discoverer == nil {
		return done.withWarning(fmt.Sprintf(toolsPending, ""))
	}
	found, err := g.discover(ctx, done.Capability)
	if err != nil {
		g.c.Log.InfoContext(ctx, "discovery failed", "member", done.Member, "err", withoutURL(err))
		return done.withWarning(fmt.Sprintf(toolsPending, whyPending(err)))
	}
	c := done.Capability
	c.Skipped = shortened(slices.Concat(c.Skipped, found.Skipped))
	c.PinnedAt = time.Now().UTC()
	saved, err := g.write(ctx, webhook.Updated, *p, c, found.Tools, nil) // the bus limits what an upstream lists
	switch {
	case errors.Is(err, storage.ErrConflict):
		return g.pinnedMeanwhile(ctx, p, done, found.Skipped)
	case err != nil:
		g.c.Log.WarnContext(ctx, "discovered tools are not stored", "member", done.Member, "err", err)
		return done.withWarning(fmt.Sprintf(toolsPending, ""))
	}
	*p, done.Capability, done.Tools = saved, saved.Capability, found.Tools
	return done.withNoTools(found.Skipped)
}

// withNoTools adds the warning for an upstream that lists no tools, or none that can be used.
func (r Registered) withNoTools(skipped []toolplan.Skip) Registered {
	switch pinned, _ := r.Pinned(); {
	case len(r.Tools) > 0:
		return r
	case len(skipped) > 0:
		return r.withWarning(noneUsable + skipped[0].Reason)
	case pinned:
		return r.withWarning(noToolsPinned)
	}
	return r.withWarning(noTools)
}

// pinnedMeanwhile returns a registration whose tools a bus has found and stored first, or says that it was replaced.
func (g *Registry) pinnedMeanwhile(ctx context.Context, p *storage.Place, done Registered,
	skipped []toolplan.Skip) Registered {
	now, err := g.c.Store.StoredPlace(ctx, done.Member)
	if err != nil {
		return done.withWarning(registeredMeanwhile)
	}
	*p = now
	c := now.Capability
	tools, err := g.c.Store.ToolsAt(ctx, now)
	if err != nil || c.PinnedAt.IsZero() || !sameButTools(c, done.Capability) {
		return done.withWarning(registeredMeanwhile)
	}
	c.Skipped = shortened(slices.Concat(c.Skipped, skipped))
	done.Capability, done.Tools = c, tools
	return done.withNoTools(skipped)
}

// sameButTools reports whether two capabilities are of one registration.
func sameButTools(a, b storage.Capability) bool {
	b.UpdatedAt, b.PinnedAt, b.ToolCount = a.UpdatedAt, a.PinnedAt, a.ToolCount
	one, err := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, two) && sameSecret(a.AuthSecret, b.AuthSecret) &&
		sameSecret(a.WebhookSecret, b.WebhookSecret)
}

func sameSecret(a, b storage.Secret) bool { return a.IsZero() && b.IsZero() || a.Equal(b.Reveal()) }

// discover lists the tools of an upstream. Its answer is untrusted: should reading it panic, the
// registration, which is stored already, must not be answered 500.
func (g *Registry) discover(ctx context.Context, c storage.Capability) (found toolplan.Discovery, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.c.Log.ErrorContext(ctx, "panic", "member", c.Member, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errors.New("the discoverer panicked")
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	leave, err := g.finding.Take(ctx, c.Owner)
	if err != nil {
		return found, err
	}
	defer leave()
	return g.c.Discoverer.Discover(hop.Begin(ctx, hop.ID(g.c.BaseURL)), c)
}

// whyPending returns why an upstream has not told its tools, as everybody may read it.
func whyPending(err error) string {
	var said interface{ Public() string }
	switch {
	case errors.As(err, &said):
		return " (" + toolschema.Text(said.Public()) + ")"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf(" (it did not answer within %v)", discoveryTimeout)
	}
	return ""
}

// withoutURL removes the URL from an error of net/http: its query may contain the credential.
func withoutURL(err error) error {
	if at := (*url.Error)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (r Registered) withWarning(why string) Registered {
	if r.Warning != "" && why != "" {
		why = "; " + why
	}
	r.Warning += why
	return r
}
