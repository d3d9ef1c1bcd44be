package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/proofs"
	"github.com/keystile/keystile/storage"
)

// bound is a caller whose token is bound to a key.
type bound struct {
	*fixture
	key    *proofs.Key
	access string
	nonce  string
}

// newBound gets a token of the first application that is bound to a key.
func newBound(h *fixture) *bound {
	h.Helper()
	app := h.app
	app.DPoP = storage.DPoPAllowed
	h.app = must(h.store.SaveApp(context.Background(), app))(h)
	b := &bound{h, proofs.NewKey("ES256"), "", ""}
	a := b.prove("POST", "/oauth/token", issuer+"/oauth/token", "", machine(h.app).Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
	if b.access, _ = a.body["access_token"].(string); b.access == "" || a.body["token_type"] != "DPoP" {
		h.Fatalf("no token: %d %s", a.status, a.text)
	}
	return b
}

// prove sends a request with a proof that is for an address, and takes the nonce that it is told to.
func (b *bound) prove(method, target, address, access, body string, headers ...string) answer {
	b.Helper()
	for range 2 {
		proof := b.key.New(method, address, b.nonce, access).Text(b.key)
		a := b.sendWith(proof, "DPoP", method, target, access, body, headers...)
		next := a.header.Get("DPoP-Nonce")
		if next == "" || a.status < 400 {
			return a
		}
		b.nonce = next
	}
	b.Fatal("a nonce is asked for twice")
	return answer{}
}

func (b *bound) sendWith(proof, scheme, method, target, access, body string, headers ...string) answer {
	r := b.request(method, target, "", strings.NewReader(body), headers...)
	if access != "" {
		r.Header.Add("Authorization", scheme+" "+access)
	}
	if proof != "" {
		r.Header.Set("DPoP", proof)
	}
	return b.send(r)
}

func TestBoundTokenOpensEveryEndpointWithAProofAndNoneWithout(t *testing.T) {
	h := newFixture(t)
	b := newBound(h)
	for _, target := range []string{"/ai/200", "/api/v1/quota", "/api/v1/usage", "/api/v1/verify"} {
		h.want(b.prove("GET", target, issuer+target, b.access, ""), 200, target)
		proof := func(address string) string { return b.key.New("GET", address, b.nonce, b.access).Text(b.key) }
		for name, a := range map[string]answer{
			"as Bearer":                 b.sendWith("", "Bearer", "GET", target, b.access, ""),
			"as Bearer with a proof":    b.sendWith(proof(issuer+target), "Bearer", "GET", target, b.access, ""),
			"as DPoP without a proof":   b.sendWith("", "DPoP", "GET", target, b.access, ""),
			"with the proof of another": b.sendWith(proof(issuer+"/oauth/userinfo"), "DPoP", "GET", target, b.access, ""),
			"with that of another host": b.sendWith(proof("https://evil.example"+target), "DPoP", "GET", target, b.access, ""),
			"with two Authorization": b.sendWith(proof(issuer+target), "DPoP", "GET", target, b.access, "",
				"Authorization", "Bearer x"),
			"a bearer token sent as DPoP": b.sendWith(proof(issuer+target), "DPoP", "GET", target, h.bearer(h.other), ""),
		} {
			h.want(a, 401, target+" "+name)
			if said := strings.Join(a.header.Values("WWW-Authenticate"), ", "); !strings.Contains(said, "error=") ||
				!strings.Contains(said, "DPoP ") && name != "with two Authorization" {
				t.Errorf("%s %s: WWW-Authenticate %q", target, name, said)
			}
		}
	}
}

func TestProofIsGoodOnceAtTheGateway(t *testing.T) {
	h := newFixture(t)
	b := newBound(h)
	h.want(b.prove("GET", "/ai/200", issuer+"/ai/200", b.access, ""), 200, "a call")
	proof := b.key.New("GET", issuer+"/ai/200", b.nonce, b.access).Text(b.key)
	h.want(b.sendWith(proof, "DPoP", "GET", "/ai/200?x=1", b.access, ""), 200, "another, with a query")
	a := h.want(b.sendWith(proof, "DPoP", "GET", "/ai/200?x=1", b.access, ""), 401, "again")
	if said := a.header.Get("WWW-Authenticate"); !strings.Contains(said, `DPoP error="invalid_dpop_proof"`) ||
		!strings.Contains(said, `algs="ES256 EdDSA RS256 PS256"`) {
		t.Errorf("again: %q", said)
	}
}

// A proxy asks about a call to another host, for which the proof is.
func TestForwardAuthTakesTheProofOfTheCallThatItIsAskedAbout(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	b := newBound(h)
	const address = "https://svc.example.com/orders/7"
	asked := []string{"X-Forwarded-Method", "DELETE", "X-Forwarded-Uri", "/orders/7?x=1", "X-Forwarded-Proto", "https",
		"X-Forwarded-Host", "svc.example.com", "X-Forwarded-For", "198.51.100.7", "from", "192.0.2.1:1"}
	ask := func(method, address string, headers ...string) answer {
		a := answer{}
		for range 2 {
			proof := b.key.New(method, address, b.nonce, b.access).Text(b.key)
			if a = b.sendWith(proof, "DPoP", "GET", "/api/v1/verify?product=ai", b.access, "", headers...); a.status < 400 ||
				a.header.Get("DPoP-Nonce") == "" {
				return a
			}
			b.nonce = a.header.Get("DPoP-Nonce")
		}
		return a
	}
	h.want(ask("DELETE", address, asked...), 200, "the call")
	h.want(ask("GET", address, asked...), 401, "another method")
	h.want(ask("DELETE", "https://svc.example.com/orders/8", asked...), 401, "another path")
	h.want(ask("DELETE", issuer+"/orders/7", asked...), 401, "another host")
	h.want(ask("GET", issuer+"/api/v1/verify", asked...), 401, "the question's own address")
	h.want(ask("GET", issuer+"/api/v1/verify"), 200, "the question's own address, of one who asks about themselves")
	asked[len(asked)-1] = "203.0.113.1:1"
	h.want(ask("DELETE", address, asked...), 401, "from one who is no trusted proxy")
}

func TestProofEndsAtTheProxyAsTheTokenDoes(t *testing.T) {
	h := newFixture(t)
	b := newBound(h)
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("DPoP") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("the service sees %v", r.Header)
		}
	}))
	defer upstream.Close()
	proxy := must(h.gateway.Proxy(gateway.Upstream{Product: "svc", URL: upstream.URL}))(t)
	h.svc = proxy
	h.want(b.prove("GET", "/svc/x", issuer+"/svc/x", b.access, ""), 200, "a call")
}

// A stream is looked at again and again, long after its proof was good.
func TestCallThatGoesOnNeedsNoSecondProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		b := newBound(h)
		ended := make(chan error, 1)
		h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "begun")
			select {
			case <-r.Context().Done():
				ended <- context.Cause(r.Context())
			case <-time.After(20 * time.Minute):
				ended <- nil
			}
		}))
		h.want(b.prove("GET", "/svc/x", issuer+"/svc/x", b.access, ""), 200, "a stream")
		if err := <-ended; err != nil {
			t.Errorf("it was ended: %v", err)
		}
	})
}

func TestPagesMaySendProofsAndReadNonces(t *testing.T) {
	h := newFixture(t)
	a := h.want(h.call("OPTIONS", "/oauth/token", "", "Origin", "https://page.example", "Access-Control-Request-Method",
		"POST", "Access-Control-Request-Headers", "dpop"), 204, "a preflight")
	if got := a.header.Get("Access-Control-Allow-Headers"); !strings.HasPrefix(got, "*, Authorization") {
		t.Errorf("Access-Control-Allow-Headers %q", got)
	}
	b := newBound(h)
	b.nonce = ""
	a = b.sendWith(b.key.New("GET", issuer+"/api/v1/quota", "", b.access).Text(b.key), "DPoP", "GET", "/api/v1/quota",
		b.access, "", "Origin", "https://page.example")
	if a.status != 401 || a.header.Get("DPoP-Nonce") == "" || a.header.Get("Access-Control-Expose-Headers") != "*" {
		t.Errorf("without a nonce: %d %v", a.status, a.header)
	}
}
