package mcpbus_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// listening is a bus behind a listener, with real upstreams.
type listening struct {
	*fixture
	server  *httptest.Server
	origin  string // by its address
	alias   string // by another name
	arrived atomic.Int32
}

// listen opens a bus whose issuer is its listener's address. Its upstreams may be on this machine.
func listen(t *testing.T) *listening {
	t.Helper()
	l := listener(t)
	l.serve()
	return l
}

// listener is one whose bus is not open yet.
func listener(t *testing.T) *listening {
	t.Helper()
	l := &listening{fixture: emptyFixture(t)}
	l.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.arrived.Add(1) > 40 {
			http.Error(w, "round and round", http.StatusTeapot)
			return
		}
		l.bus.ServeHTTP(w, r)
	}))
	address := l.server.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.origin, l.alias = "http://"+address, "http://localhost:"+port
	l.tokens.give("app", storage.Caller{AppID: "app1", Scope: "app", Audience: l.origin}, time.Hour)
	return l
}

// serve opens the bus; edits change its Config.
func (l *listening) serve(edits ...func(*mcpbus.Config)) {
	l.Helper()
	u := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.1", "::1"},
		Log: quiet}))(l)
	own := func(c *mcpbus.Config) { c.BaseURL, c.Invoker, c.Discoverer = l.origin, u, u }
	l.open(append([]func(*mcpbus.Config){own}, edits...)...)
	l.server.Start()
	l.Cleanup(func() {
		l.server.Close()
		u.Close(context.Background())
	})
}

// lead registers a tool of an MCP endpoint, under a name it has there.
func (l *listening) lead(member, endpoint, remote string) {
	l.Helper()
	l.register(storage.Capability{
		Member: member, Kind: storage.CapabilityStatic, UpstreamURL: endpoint, Publish: true,
		AuthType: "bearer", AuthSecret: storage.NewSecret("app"),
	}, toolplan.Tool{Name: "t", RemoteName: remote, Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)})
	l.reload()
}

// call calls a tool of the bus as an agent would.
func (l *listening) call(tool string) answer {
	l.Helper()
	return send(l.bus, request(l.Context(), legacyBody("tools/call", `{"name":"`+tool+`"}`), "Authorization", "Bearer app"))
}

func (l *listening) wantLoop(a answer, arrived map[*listening]int32) {
	l.Helper()
	if a.at("result.isError") != true || !strings.Contains(a.toolText(), "leads back to the service") {
		l.Errorf("the call is answered %d %s, want a result that names the loop", a.status, a.text)
	}
	for bus, most := range arrived {
		if n := bus.arrived.Load(); n == 0 || n > most {
			l.Errorf("%d requests arrived at %s, want at most %d", n, bus.origin, most)
		}
	}
}

func TestCallThatComesBackByAnotherNameIsRefused(t *testing.T) {
	l := listen(t)
	l.lead("me", l.alias+"/api/mcp", "me__t")
	l.wantLoop(l.call("me__t"), map[*listening]int32{l: 2}) // finding out the era of the upstream, and no further
	charges, _ := l.meter.bill()
	if len(charges) != 1 {
		t.Errorf("%d calls are charged, want the one that was made", len(charges))
	}
}

func TestLoopOfTwoServicesStops(t *testing.T) {
	a, b := listen(t), listen(t)
	a.lead("b", b.origin+"/api/mcp", "a__t")
	b.lead("a", a.origin+"/api/mcp", "b__t")
	a.wantLoop(a.call("b__t"), map[*listening]int32{a: 2, b: 4})
}

func TestLoopAllowsServicesToCallOneAnotherOnce(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"came_through":"` + r.Header.Get("CDN-Loop") + `"}`))
	}))
	defer upstream.Close()
	a, b := listen(t), listen(t)
	a.lead("b", b.origin+"/api/mcp", "rest__get")
	b.register(capability("rest", upstream.URL), rest("get", "get"))
	b.reload()
	got := a.call("b__t")
	if got.at("result.isError") == true || strings.Count(got.toolText(), "keystile-") != 2 {
		t.Errorf("a call through two services = %d %s, want both named at the upstream", got.status, got.text)
	}
}

// The list of a bus must not become part of itself either.
func TestBusDoesNotListItself(t *testing.T) {
	l := listener(t)
	l.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	me := quick("me")
	me.UpstreamURL, me.AuthType, me.AuthSecret = l.alias+"/api/mcp", "bearer", storage.NewSecret("app")
	l.register(me)
	asked := make(chan error, 100)
	l.serve(func(c *mcpbus.Config) { c.Discoverer = discovering{c.Discoverer, asked} })
	if err := <-asked; err == nil || !strings.Contains(err.Error(), "leads back to the service") {
		t.Errorf("it was asked for its own list: %v, want it refused", err)
	}
	for _, name := range first(l.walk()) {
		if strings.HasPrefix(name, "me__") {
			t.Errorf("it lists %s", name)
		}
	}
}

func first[T, U any](v T, _ U) T { return v }

// discovering tells how each discovery ended.
type discovering struct {
	mcpbus.Discoverer
	asked chan error
}

func (a discovering) Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
	found, err := a.Discoverer.Discover(ctx, c)
	a.asked <- err
	return found, err
}

// An HTTP tool whose address leads to the bus by another name is a way round as well.
func TestToolByHTTPThatComesBackIsRefused(t *testing.T) {
	l := listen(t)
	post := toolplan.Tool{
		Name: "send", Method: "post", Path: "/api/mcp", Description: "d",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"body":{}}}`),
		Call: &toolplan.Call{Template: "/api/mcp", Body: &toolplan.Body{ContentType: "application/json",
			Whole: "body"}},
	}
	c := capability("me", l.alias)
	c.AuthType, c.AuthSecret = "bearer", storage.NewSecret("app")
	l.register(c, post)
	l.reload()
	nested := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me__send","arguments":{"body":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}}}`
	a := send(l.bus, request(t.Context(), legacyBody("tools/call", `{"name":"me__send","arguments":{"body":`+nested+`}}`)))
	l.wantLoop(a, map[*listening]int32{l: 1})
}
