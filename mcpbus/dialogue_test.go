package mcpbus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestDialogues(t *testing.T) {
	document := openapitest.New(t, new(mcpbus.Bus).OpenAPI())
	dialogue.Prove(t, issuer, func(t *testing.T, file string) (http.Handler, map[string]string) {
		h, values := stage(t, strings.HasSuffix(file, "quota.txt"))
		return document.Watch(t, h), values
	})
	document.SawEverything(t)
}

// stage is the bus behind the gateway as dialogues find it, with a real path from a call to
// an HTTP request, and an upstream that answers by path.
func stage(t *testing.T, quota bool) (http.Handler, map[string]string) {
	backends, settle := backend.Nodes(t)
	key, shared := storage.NewMasterKey(), counters.New()
	share := func(c *gateway.Config) {
		if len(backends) > 1 {
			c.Limiter = shared.Limiter()
		}
	}
	s := &site{fixture: newNode(t, backends[0], key)}
	s.meter.quota = quota
	s.app = must(s.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}}))(t)
	s.build(t, share)
	get, find := rest("get", "getPet"), rest("get", "find")
	get.Description, find.Description = "One pet", "All pets of a name"
	get.InputSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer","minimum":1}},"required":["id"]}`)
	get.Call = &toolplan.Call{Template: "/pets/{id}", Params: []toolplan.Param{{Arg: "id", Name: "id", In: "path", Required: true}}}
	find.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	find.Call = &toolplan.Call{Template: "/pets", Params: []toolplan.Param{{Arg: "name", Name: "name", In: "query"}}}
	s.register(capability("pets", "https://pets.example.com"), get, find)
	s.register(capability("billing", "https://billing.example.com"), rest("post", "settle"))
	must(s.store.SaveBundle(t.Context(), access.Bundle{Name: "support", Tools: []string{"pets__find"}}))(t)
	s.reload()
	nodes := []http.Handler{s.dialogues(t)}
	for _, b := range backends[1:] {
		other := &site{fixture: newNode(t, b, key), app: s.app}
		other.meter = s.meter // there is one trail
		other.build(t, share)
		nodes = append(nodes, other.dialogues(t))
	}
	return dialogue.Nodes(settle, nodes...), map[string]string{"client_id": s.app.ID, "client_secret": s.app.AppKey().Reveal()}
}

// dialogues returns the site as dialogues find it.
func (s *site) dialogues(t *testing.T) http.Handler {
	s.calls.do = nil
	s.bus.Close(t.Context())
	s.open(func(c *mcpbus.Config) {
		c.Verifier = s.opened
		c.Invoker = executor{must(restcall.New(restcall.Config{Transport: petShop{}}))(t)}
	})

	mux := http.NewServeMux()
	mux.Handle("/oauth/", s.provider)
	mux.Handle("/.well-known/oauth-protected-resource", s.bus)
	mux.Handle("/.well-known/oauth-protected-resource/", s.bus)
	mux.Handle("/api/mcp", s.gateway.Meter("", s.bus))
	mux.Handle("/api/mcp/b/", s.gateway.Meter("", s.bus))
	mux.Handle("/test/", s.backstage())
	return s.gateway.Front(mux)
}

// executor calls tools by HTTP.
type executor struct{ caller *restcall.Caller }

func (e executor) Call(ctx context.Context, c storage.Capability, t toolplan.Tool, arguments json.RawMessage) (mcpbus.Result, error) {
	plan, err := restcall.Compile(t)
	if err != nil {
		return mcpbus.Result{}, err
	}
	r, err := e.caller.Call(ctx, restcall.Upstream{BaseURL: c.UpstreamURL, AuthType: c.AuthType, Secret: c.AuthSecret}, plan, arguments)
	return mcpbus.FromREST(r), err
}

// petShop is an upstream.
type petShop struct{}

func (petShop) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body, header, length := 200, `{"id":1,"name":"Rex"}`, http.Header{"Content-Type": {"application/json"}}, int64(-1)
	switch r.URL.RequestURI() {
	case "/pets/1":
	case "/pets?name=Rex":
		body = `[{"id":1,"name":"Rex"}]`
	case "/pets?name=gbk":
		body = "\xc4\xe3\xba\xc3"
		header.Set("Content-Type", "text/plain; charset=GBK")
	case "/pets?name=page":
		body = `[{"id":1,"name":"Rex"}]`
		header.Set("Link", `<`+r.URL.Scheme+`://`+r.URL.Host+`/pets?name=page&page=2>; rel="next"`)
		header.Set("X-Total-Count", "31")
		header.Set("Set-Cookie", "session=1")
	case "/pets?name=all":
		body = strings.Repeat("x", 2<<20)
	case "/pets?name=export":
		body = strings.Repeat("x", 2<<20)
		length = 2 << 20
		header = http.Header{"Content-Type": {"text/csv"}, "Content-Location": {"https://files.example.org/pets.csv?sig=1"}}
	default:
		status, body = 404, `{"error":"no such pet"}`
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: length, Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

// backstage shows what was charged and noted.
func (s *site) backstage() http.Handler {
	return reply.NewMux(quiet, reply.Route{Path: "/test/meter", Methods: []string{"GET"}, Handle: func(w http.ResponseWriter, _ *http.Request) error {
		charges, events := s.meter.bill()
		var notes []string
		for _, e := range events {
			notes = append(notes, fmt.Sprint(e.Kind, " ", e.Product, " ", e.Detail, " ", e.Status))
		}
		for i := range charges {
			charges[i] = strings.TrimPrefix(charges[i], s.app.ID+" ")
		}
		return reply.JSON(w, 200, map[string][]string{"charged": charges, "noted": notes})
	}})
}
