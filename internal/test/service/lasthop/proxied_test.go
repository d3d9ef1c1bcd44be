package lasthop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

// Each attempt has a statement of its own, and is the same call.
func TestRepetitionOfASignedCallIsFree(t *testing.T) {
	h := start(t, lasthop.Identity{Kind: lasthop.Signed})
	bearer := h.bearer("u1")
	var statements []string
	for range 2 {
		got, _ := h.call("ai", bearer, http.Header{"Idempotency-Key": {"0b5c4bd2-7e9e-4c1f-8f6e-5a6f3e1d2c3b"}})
		statements = append(statements, got.Get(lasthop.Header))
	}
	if s := h.Gateway.Stats(); s.Repeated != 1 || statements[0] == statements[1] {
		t.Errorf("%d repetitions were free, with %q", s.Repeated, statements)
	}
}

func TestWebSocketIsToldWhoOpensIt(t *testing.T) {
	told := make(chan http.Header, 1)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told <- r.Header.Clone()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			conn.Close()
		}
	}))
	defer up.Close()
	h := start(t, lasthop.Identity{Kind: lasthop.Signed})
	proxy, err := h.Gateway.Proxy(gateway.Upstream{Product: gateway.ProductStorage, URL: up.URL,
		Identity: lasthop.Identity{Kind: lasthop.Signed}})
	if err != nil {
		t.Fatal(err)
	}
	h.Handle("/socket", proxy)
	server := httptest.NewServer(h)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /socket HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer %s\r\n"+
		"Connection: Upgrade, Keystile-Caller\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+
		"Keystile-Caller: forged\r\nkeystile_caller: forged\r\n\r\n", h.bearer("u1"))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "101") {
		t.Fatalf("the socket is answered %q, %v", line, err)
	}
	got := <-told
	if _, body := claims(t, got.Get(lasthop.Header)); body["sub"] != "u1" || body["tool"] != gateway.ProductStorage ||
		body["aud"] != up.URL || len(got[lasthop.Header]) != 1 {
		t.Errorf("the service is told %v in %v", body, got)
	}
}

// mute signs nothing.
type mute struct{}

func (mute) SignCaller(context.Context, storage.Caller, lasthop.Call) (string, error) {
	return "", errors.New("the store is away")
}

// A statement that cannot be made is not left out: the call does not reach its service, and is not charged.
func TestCallThatCannotBeSignedIsNotMade(t *testing.T) {
	h := start(t, lasthop.Identity{Kind: lasthop.Signed, Subject: lasthop.OpenID})
	trail, err := gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: h.Store})
	if err != nil {
		t.Fatal(err)
	}
	defer trail.Close(context.Background())
	c := gateway.Config{Store: h.Store, Tokens: h.Tokens, Trail: trail, Signer: mute{}}
	g, err := gateway.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	signed := gateway.Upstream{Product: gateway.ProductAI, URL: h.up.URL, Identity: lasthop.Identity{Kind: lasthop.Signed}}
	proxy, err := g.Proxy(signed)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, base+"/x", nil)
	r.Header.Set("Authorization", "Bearer "+h.bearer("u1"))
	w := httptest.NewRecorder()
	proxy.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || len(h.up.calls()) != 0 ||
		g.Stats().Charged != 0 || strings.Contains(w.Body.String(), "away") {
		t.Errorf("answered %d %s, the service was called %d times, %d were charged", w.Code, w.Body, len(h.up.calls()),
			g.Stats().Charged)
	}
	c.Signer = nil
	without, err := gateway.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close(context.Background())
	if _, err := without.Proxy(signed); err == nil || !strings.Contains(err.Error(), "Config.Signer") {
		t.Errorf("a service that is told by statements, without what signs them: %v", err)
	}
}

func TestUpstreamWithoutAnIdentityThatFitsIsRefused(t *testing.T) {
	h := start(t, lasthop.Identity{})
	for want, u := range map[string]gateway.Upstream{
		"none, headers, signed or bearer": {Identity: lasthop.Identity{Kind: "jwt"}},
		"are for identity signed":         {Identity: lasthop.Identity{Kind: lasthop.Headers, JTI: lasthop.Off}},
		"the Identity is signed: leave":   {Identity: lasthop.Identity{Kind: lasthop.Signed}, KeepBearer: true},
		"the Identity is none: leave":     {Identity: lasthop.Identity{Kind: lasthop.None}, KeepBearer: true},
	} {
		u.Product, u.URL = gateway.ProductAI, h.up.URL
		if _, err := h.Gateway.Proxy(u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", u.Identity, err, want)
		}
	}
}

// A whole call by the proxy and by a tool, with and without a statement.
func BenchmarkCall(b *testing.B) {
	for _, told := range []lasthop.Identity{{Kind: lasthop.None}, {Kind: lasthop.Headers}, {Kind: lasthop.Signed},
		{Kind: lasthop.Signed, JTI: lasthop.Off}} {
		h := start(b, told, func(c *keystile.Config) { c.Gateway.PerAddress = 1 << 30 })
		tier := h.app
		tier.Tier = storage.TierEnterprise
		if _, err := h.Store.SaveApp(b.Context(), tier); err != nil {
			b.Fatal(err)
		}
		bearer := h.bearer("u1")
		for _, way := range ways {
			b.Run(way+" "+told.Kind+told.JTI, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if w := h.send(way, bearer); w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}
