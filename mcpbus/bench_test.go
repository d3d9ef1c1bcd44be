package mcpbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// Each benchmark has its floor beside it, so that one run gives the difference.

// BenchmarkToolsCall is a call through the bus, and the same request sent to the same
// upstream directly, over the same connections.
func BenchmarkToolsCall(b *testing.B) {
	url, transport := shop(b)
	h := benchFixture(b, url, transport)
	const body = `{"name":"Rex","age":3}`
	b.Run("direct", func(b *testing.B) {
		client := &http.Client{Transport: transport}
		b.ReportAllocs()
		for b.Loop() {
			r, _ := http.NewRequestWithContext(b.Context(), "POST", url+"/pets", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			io.ReadAll(resp.Body)
			resp.Body.Close()
		}
	})
	params := `"name":"pets__addPet","arguments":` + body
	for name, c := range map[string]struct {
		body    string
		headers []string
	}{
		"legacy": {legacyBody("tools/call", "{"+params+"}"), nil},
		"modern": {modernBody("tools/call", params), modernHeaders("tools/call", params)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a := httptest.NewRecorder()
				h.bus.ServeHTTP(a, request(b.Context(), c.body, c.headers...))
				if a.Code != 200 || bytes.Contains(a.Body.Bytes(), []byte("isError")) {
					b.Fatal(a.Code, a.Body)
				}
			}
		})
	}
}

// shop is an upstream, and connections to it.
func shop(b *testing.B) (url string, transport *http.Transport) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":42,"name":"Rex","tags":["a","b"]}`)
	}))
	b.Cleanup(upstream.Close)
	transport = &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	b.Cleanup(transport.CloseIdleConnections)
	return upstream.URL, transport
}

// benchFixture has one tool, of the shop.
func benchFixture(b *testing.B, url string, transport *http.Transport) *fixture {
	add := rest("post", "addPet")
	add.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`)
	add.Call = &toolplan.Call{Template: "/pets", Body: &toolplan.Body{ContentType: "application/json",
		Fields: []toolplan.Field{{Arg: "name", Name: "name", Required: true}, {Arg: "age", Name: "age"}}}}
	h := emptyFixture(b)
	h.register(capability("pets", url), add)
	h.open(func(c *mcpbus.Config) {
		c.Invoker = planned{must(restcall.New(restcall.Config{Transport: transport}))(b), must(restcall.Compile(add))(b)}
		c.Meter, c.Audit = free{}, free{}
	})
	return h
}

// planned calls one tool.
type planned struct {
	caller *restcall.Caller
	plan   *restcall.Plan
}

func (p planned) Call(ctx context.Context, c storage.Capability, _ toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	r, err := p.caller.Call(ctx, restcall.Upstream{BaseURL: c.UpstreamURL}, p.plan, arguments)
	return mcpbus.FromREST(r), err
}

// free is a meter that counts nothing.
type free struct{}

func (free) ChargeOnce(context.Context, storage.Caller, string, string, []byte, time.Duration, bool) error {
	return nil
}
func (free) Quota(context.Context, storage.Caller) (limit, remaining int64, reset time.Time, ok bool) {
	return 0, 0, time.Time{}, false
}
func (free) Note(event.Event) {}

// BenchmarkToolsListPage is a page of 1,000 of 10,000 tools over a real connection, and
// the same bytes from a handler that only writes them.
func BenchmarkToolsListPage(b *testing.B) {
	h := fullFixture(b)
	ask := legacyBody("tools/list", `{"cursor":"m4__tool999"}`)
	page := h.post(ask)
	if len(page.names()) != 1000 {
		b.Fatalf("a page of %d tools", len(page.names()))
	}
	ready := []byte(page.text)
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{
		{"floor", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(ready)))
			w.Write(ready)
		})},
		{"bus", h.bus},
	} {
		b.Run(c.name, func(b *testing.B) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			client := server.Client()
			b.SetBytes(int64(len(ready)))
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequestWithContext(b.Context(), "POST", server.URL+"/api/mcp", strings.NewReader(ask))
				r.Header.Set("Authorization", "Bearer app")
				resp, err := client.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, resp.Body); n != int64(len(ready)) || err != nil {
					b.Fatal(n, err)
				}
				resp.Body.Close()
			}
		})
	}
}

// BenchmarkToolsListFiltered is a page of 1,000 tools of a caller who finds less than all
// 10,000, beside one of a caller who finds everything: of half of the capabilities, and of
// every second tool of each. The ratio is the unfiltered page's time to the filtered one's.
func BenchmarkToolsListFiltered(b *testing.B) {
	h := fullFixture(b)
	var second []string
	for j := range 500 {
		second = append(second, fmt.Sprintf("tool%03d", 2*j))
	}
	for i := range 10 {
		rules := []access.Rule{{Subject: "user:all"}, {Subject: "user:scattered", Tools: second}}
		if i%2 == 0 {
			rules = append(rules, access.Rule{Subject: "user:half"})
		}
		l := must(h.store.Access(b.Context(), fmt.Sprint("m", i)))(b)
		l.Rules = rules
		must(h.store.SaveAccess(b.Context(), l))(b)
	}
	h.reload()
	unfiltered := 0.0
	for _, who := range []string{"all", "half", "scattered"} {
		h.tokens.give(who, storage.Caller{AppID: "app1", UserID: who, Scope: "tools", Audience: issuer}, 24*time.Hour)
		ask := legacyBody("tools/list", `{"cursor":"m4__tool000"}`)
		page := h.post(ask, "Authorization", "Bearer "+who)
		if len(page.names()) != 1000 {
			b.Fatalf("%s: a page of %d tools", who, len(page.names()))
		}
		b.Run(who, func(b *testing.B) {
			server := httptest.NewServer(h.bus)
			defer server.Close()
			client := server.Client()
			b.SetBytes(int64(len(page.text)))
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequestWithContext(b.Context(), "POST", server.URL+"/api/mcp", strings.NewReader(ask))
				r.Header.Set("Authorization", "Bearer "+who)
				resp, err := client.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, resp.Body); n != int64(len(page.text)) || err != nil {
					b.Fatal(n, err)
				}
				resp.Body.Close()
			}
			each := float64(b.Elapsed()) / float64(b.N)
			if who == "all" {
				unfiltered = each
			}
			if unfiltered > 0 {
				b.ReportMetric(unfiltered/each, "of-unfiltered")
			}
		})
	}
}

// fullFixture has 10,000 tools of some 480 bytes.
func fullFixture(b *testing.B) *fixture {
	h := emptyFixture(b)
	description := strings.Repeat("what this tool is good for ", 8)
	for i := range 10 {
		tools := make([]toolplan.Tool, 1000)
		for j := range tools {
			tools[j] = rest("get", fmt.Sprintf("tool%03d", j))
			tools[j].Description = description
			tools[j].InputSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer","minimum":1},"name":{"type":"string","maxLength":40},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}`)
		}
		h.register(capability(fmt.Sprint("m", i), "https://x.example.com"), tools...)
	}
	h.open()
	return h
}

// BenchmarkReload is a bus of 10,000 tools of which one member's 1,000 have changed.
func BenchmarkReload(b *testing.B) {
	h := emptyFixture(b)
	for i := range 10 {
		h.fill(fmt.Sprint("m", i), 1000)
	}
	h.open()
	for b.Loop() {
		b.StopTimer()
		h.fill("m5", 1000)
		b.StartTimer()
		h.reload()
	}
}
