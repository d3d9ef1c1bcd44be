package mcpbus_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/reply"
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
	to := &bill{quota: quota}
	n := newNode(t, backends[0], key, to, share)
	app := must(n.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}}))(t)
	get := tool("get", "getPet", "One pet", `{"id":{"type":"integer","minimum":1}},"required":["id"]`,
		toolplan.Call{Template: "/pets/{id}", Params: []toolplan.Param{{Arg: "id", Name: "id", In: "path", Required: true}}})
	find := tool("get", "find", "All pets of a name", `{"name":{"type":"string"}}`,
		toolplan.Call{Template: "/pets", Params: []toolplan.Param{{Arg: "name", Name: "name", In: "query"}}})
	settling := tool("post", "settle", "calls settle", `{"id":{"type":"integer"}}`,
		toolplan.Call{Template: "/settle", Params: []toolplan.Param{{Arg: "id", Name: "id", In: "query"}}})
	must(n.store.SaveCapability(t.Context(), capability("pets", "https://pets.example.com"),
		[]toolplan.Tool{get, find}))(t)
	must(n.store.SaveCapability(t.Context(), capability("billing", "https://billing.example.com"),
		[]toolplan.Tool{settling}))(t)
	must(n.store.SaveBundle(t.Context(), access.Bundle{Name: "support", Tools: []string{"pets__find"}}))(t)
	if err := n.bus.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	nodes := []http.Handler{n.dialogues(app)}
	for _, b := range backends[1:] {
		nodes = append(nodes, newNode(t, b, key, to, share).dialogues(app)) // there is one trail
	}
	return dialogue.Nodes(settle, nodes...), map[string]string{"client_id": app.ID, "client_secret": app.AppKey().Reveal()}
}

// tool is one that is called by HTTP; properties are those of its arguments, and further members of their schema.
func tool(method, name, description, properties string, call toolplan.Call) toolplan.Tool {
	return toolplan.Tool{
		Name: name, Method: method, Path: "/" + name, Description: description,
		InputSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`), Call: &call,
	}
}

// dialogues returns the node as dialogues find it.
func (n *node) dialogues(app storage.App) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/oauth/", n.provider)
	mux.Handle("/.well-known/oauth-protected-resource", n.bus)
	mux.Handle("/.well-known/oauth-protected-resource/", n.bus)
	mux.Handle("/api/mcp", n.gateway.Meter("", n.bus))
	mux.Handle("/api/mcp/b/", n.gateway.Meter("", n.bus))
	mux.Handle("/test/", n.backstage(app))
	return n.gateway.Front(mux)
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
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: length, Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

// backstage shows what was charged and noted.
func (n *node) backstage(app storage.App) http.Handler {
	return reply.NewMux(quiet, reply.Route{Path: "/test/meter", Methods: []string{"GET"},
		Handle: func(w http.ResponseWriter, _ *http.Request) error {
			charged, noted := n.bill.ask()
			for i := range charged {
				charged[i] = strings.TrimPrefix(charged[i], app.ID+" ")
			}
			return reply.JSON(w, 200, map[string][]string{"charged": charged, "noted": noted})
		}})
}
