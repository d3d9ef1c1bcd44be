package nodes

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// endpoint is a place where a bearer token is judged.
type endpoint struct {
	name string
	open func(n *node, bearer string) (status int, retryAfter string)
}

// at is an endpoint of the whole service.
func at(method, path, body string) endpoint {
	return endpoint{method + " " + path, func(n *node, bearer string) (int, string) {
		path := strings.NewReplacer("{app}", n.cluster.app.ID, "{token}", bearer).Replace(path)
		if path != "" && strings.Contains(path, "access_token=") {
			bearer = ""
		}
		return seen(n.call(method, path, bearer, body))
	}}
}

// alone is an endpoint of one package that no gateway stands before.
func alone(name string, handler func(n *node) http.Handler, method, path, body string) endpoint {
	return endpoint{name + " without a gateway", func(n *node, bearer string) (int, string) {
		r := httptest.NewRequest(method, origin+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+bearer)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler(n).ServeHTTP(w, r)
		return seen(w)
	}}
}

func seen(w *httptest.ResponseRecorder) (int, string) { return w.Code, w.Header().Get("Retry-After") }

var endpoints = []endpoint{
	at("GET", "/ai/x", ""),
	at("GET", "/api/v1/verify", ""), at("GET", "/api/v1/verify?product=ai", ""), at("POST", "/api/v1/verify/behind", ""),
	at("GET", "/api/v1/quota", ""), at("GET", "/api/v1/usage", ""), at("GET", "/api/v1/billing/plans", ""),
	at("GET", "/api/v1/apps", ""), at("GET", "/api/v1/apps/{app}", ""), at("PATCH", "/api/v1/apps/{app}", `{"name":"Renamed"}`),
	at("GET", "/api/v1/billing/orders", ""), at("GET", "/api/v1/billing/settlements", ""),
	at("GET", "/oauth/userinfo", ""), at("POST", "/oauth/userinfo", ""), at("GET", "/oauth/userinfo.php", ""),
	at("GET", "/check_token.php", ""), at("GET", "/check_token.php?access_token={token}", ""),
	at("POST", "/api/mcp", listTools), at("POST", "/api/mcp/b/vet", listTools),
	alone("the bus", func(n *node) http.Handler { return n.Bus }, "POST", "/api/mcp", listTools),
	alone("userinfo", func(n *node) http.Handler { return n.OAuth }, "GET", "/oauth/userinfo", ""),
	alone("check_token", func(n *node) http.Handler { return n.Legacy }, "GET", "/check_token.php", ""),
	alone("verify", func(n *node) http.Handler { return n.Gateway }, "GET", "/api/v1/verify", ""),
	{"a service elsewhere that asks about each token", func(n *node, bearer string) (int, string) {
		v := must(remote.New(n.cluster.Context(), remote.Config{BaseURL: origin, CheckEvery: time.Second,
			Client: &http.Client{Transport: n}}))(n.cluster)
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "https://reports.example.com/", nil)
		r.Header.Set("Authorization", "Bearer "+bearer)
		v.Require()(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		return seen(w)
	}},
}

// RoundTrip implements http.RoundTripper.
func (n *node) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	return w.Result(), nil
}

// everyEndpoint checks the status of every endpoint.
func (n *node) everyEndpoint(bearer string, status int, when string) {
	n.cluster.Helper()
	for _, d := range endpoints {
		got, retryAfter := d.open(n, bearer)
		if got != status || (retryAfter != "") != (status == 503) {
			n.cluster.Errorf("%s, %s = %d with Retry-After %q, want %d", when, d.name, got, retryAfter, status)
		}
	}
}

func enterprise(t testing.TB, all *cluster) { // so that no rate refuses the calls of a test
	s := must(storage.Open(t.Context(), all.database.link(), all.key))(t)
	a := must(s.App(t.Context(), all.app.ID))(t)
	a.SetTier(storage.TierEnterprise, time.Now(), time.Time{})
	must(s.SaveApp(t.Context(), a))(t)
	must(s.SaveBundle(t.Context(), access.Bundle{Name: "vet", Tools: []string{"pets__*"}}))(t)
}

// Everything but the feed works, so that nothing but its age can be the reason.
func TestWhereverABearerIsJudgedAStaleFeedIsA503(t *testing.T) {
	for _, method := range []string{"Revocations", "the epochs"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCluster(t)
				enterprise(t, all)
				n := all.node(func(c *keystile.Config, _ *link) { c.Tokens.StaleAfter = 5 * time.Second })
				bearer := n.bearer()
				time.Sleep(300 * time.Millisecond)
				n.everyEndpoint(bearer, 200, "before")
				n.link.away(method, errAway)
				time.Sleep(4 * time.Second)
				n.everyEndpoint(bearer, 200, "while the feed is 4 s old")
				if err := n.Ready(t.Context()); err != nil && method != "Revocations" {
					t.Errorf("Ready() = %v while the feed is 4 s old", err)
				}
				time.Sleep(2 * time.Second)
				n.everyEndpoint(bearer, 503, "when the feed is 6 s old")
				if w := n.get("/ai/x", bearer+"A"); w.Code != 401 {
					t.Errorf("a forged token = %d, want 401: it is not the feed's fault", w.Code)
				}
				if w := n.get("/oauth/jwks", bearer); w.Code != 200 {
					t.Errorf("what is for everybody = %d, want 200", w.Code)
				}
				if err := n.Ready(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
					t.Errorf("Ready() = %v when the feed is 6 s old, want ErrUnavailable", err)
				}
				if feed := n.Tokens.Feed(); feed.Err == nil || !errors.Is(feed.Err, errAway) || feed.Age < 5*time.Second ||
					feed.Age > 7*time.Second {
					t.Errorf("the feed is %+v", feed)
				}
				n.link.away(method, nil)
				time.Sleep(time.Second)
				synctest.Wait()
				n.everyEndpoint(bearer, 200, "once it is read again")
				if feed := n.Tokens.Feed(); feed.Err != nil || feed.Age > time.Second {
					t.Errorf("the feed is %+v", feed)
				}
				if n.log.lines("cannot be read; unless") != 1 || n.log.lines("is read again") != 1 {
					t.Errorf("logged %s", &n.log.text)
				}
			})
		})
	}
}

// A node that cannot reach the database goes on with whom it knows, until it has heard nothing for too
// long, and by itself when the database is back.
func TestBearersVerifiedGoOnUntilTheBoundWhileTheDatabaseIsAway(t *testing.T) {
	for _, how := range []string{"fails", "hangs"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCluster(t)
				n := all.node(listening)
				bearer, unknown := n.bearer(),
					must(n.Store.SaveApp(t.Context(), storage.App{Name: "Unknown", Public: true,
						Domains: []string{"x.example.com"}}))(t)
				time.Sleep(300 * time.Millisecond)
				n.want(200, bearer, "before")
				back := func() { n.link.away("", nil) }
				if how == "fails" {
					n.link.away("", errAway)
				} else {
					back = n.link.hanging("Revocations")
					n.link.away("Get", errAway)
					n.link.away("Put", errAway)
				}
				time.Sleep(9 * time.Second)
				n.want(200, bearer, "nine seconds after the database went away")
				if w := n.get("/oauth/authorize?response_type=code&client_id="+unknown.ID, ""); w.Code != 503 ||
					w.Header().Get("Retry-After") == "" {
					t.Errorf("what needs the database = %d %v", w.Code, w.Header())
				}
				time.Sleep(2 * time.Second)
				n.want(503, bearer, "eleven seconds after it went away")
				time.Sleep(time.Hour / 2)
				n.want(503, bearer, "half an hour after it went away")
				back()
				n.link.away("Get", nil)
				n.link.away("Put", nil)
				time.Sleep(time.Second)
				synctest.Wait()
				n.want(200, bearer, "once it is back")
			})
		})
	}
}

// The address is not to blame either: its own rate would be a 429 with another reason.
func TestRateNeverHidesThatTheFeedIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newCluster(t).node()
		bearer := n.bearer()
		n.link.away("Revocations", errAway)
		time.Sleep(11 * time.Second)
		for range 200 {
			n.want(503, bearer, "one of many calls")
		}
		if lines := n.log.lines("revocations cannot be read"); lines > 1 {
			t.Errorf("200 refusals are %d lines of the log", lines)
		}
	})
}

// A revocation while a node is cut off holds there as soon as it accepts anything again.
func TestNodeThatWasCutOffKnowsEverythingBeforeItAcceptsATokenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		enterprise(t, all)
		here, there := all.node(), all.node()
		bearer := here.bearer()
		there.want(200, bearer, "before")
		there.link.away("", errAway)
		time.Sleep(time.Minute)
		here.revoke(bearer)
		there.want(503, bearer, "cut off")
		there.link.away("", nil)
		for range 40 {
			if w := there.get("/ai/x", bearer); w.Code == 200 {
				t.Fatal("it accepts a token that was revoked while it was cut off")
			}
			time.Sleep(50 * time.Millisecond)
		}
		there.want(401, bearer, "two seconds later")
	})
}

func TestStreamEndsWhenItsBearerCannotBeVerifiedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newCluster(t).node()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		r := httptest.NewRequest("POST", origin+"/api/mcp", strings.NewReader(listen)).WithContext(ctx)
		for key, value := range map[string]string{
			"Authorization": "Bearer " + n.bearer(), "Content-Type": "application/json",
			"Accept":               "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
		} {
			r.Header.Set(key, value)
		}
		w, done := httptest.NewRecorder(), make(chan struct{})
		go func() { defer close(done); n.ServeHTTP(w, r) }()
		time.Sleep(5 * time.Minute)
		select {
		case <-done:
			t.Fatalf("the stream has ended: %d %s", w.Code, w.Body)
		default:
		}
		n.link.away("Revocations", errAway)
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("the stream goes on")
		}
	})
}
