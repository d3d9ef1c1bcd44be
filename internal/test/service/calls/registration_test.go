package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const base = "https://id.example.com"

// service is a whole service on a spied Backend.
type service struct {
	testing.TB
	*keystile.Service
	spy *spy
}

func start(t testing.TB) *service {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	h := &service{TB: t, spy: &spy{Backend: backend}}
	c := keystile.Config{BaseURL: base, Backend: h.spy, MasterKey: storage.NewMasterKey(),
		Log:                   slog.New(slog.DiscardHandler),
		AllowPrivateUpstreams: []string{"127.0.0.0/8"}}
	c.Tokens.SweepEvery = -1
	var err error
	if h.Service, err = keystile.New(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.Background()) })
	return h
}

// browser returns the cookie of a new user with a role.
func (h *service) browser(role string) string {
	h.Helper()
	u, err := h.Store.SaveUser(h.Context(), storage.User{Sub: "u-" + role, Username: role, Role: role})
	if err != nil {
		h.Fatal(err)
	}
	cookie, now := handle.NewCookie(), time.Now()
	_, err = h.Store.SaveSession(h.Context(), storage.Session{ID: handle.Hash(cookie), UserID: u.Sub, AuthTime: now,
		ExpiresAt: now.Add(24 * time.Hour), EndsAt: now.Add(24 * time.Hour)})
	if err != nil {
		h.Fatal(err)
	}
	return "open_sso_token=" + cookie
}

// asked returns the context of a request whose calls are noted.
func asked(ctx context.Context) context.Context { return context.WithValue(ctx, ofRequest{}, true) }

// send returns the calls of a request that is answered 200.
func (h *service) send(method, path, cookie, body string) []string {
	h.Helper()
	return h.spy.count(func() {
		r := httptest.NewRequestWithContext(asked(h.Context()), method, base+path, strings.NewReader(body))
		r.Header.Set("Cookie", cookie)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			h.Fatalf("%s %s = %d %s", method, path, w.Code, w.Body)
		}
	})
}

const capabilities = "/api/console/capabilities"

func standard(member, upstream string) string {
	return fmt.Sprintf(`{"member":%q,"upstream_url":%q,"openapi":{"openapi":"3.0.3","info":{"title":"t","version":"1"},`+
		`"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"ok"}}}}}}}`, member, upstream)
}

// asks counts the questions among calls, and the writes. The audit trail is appended to once, before the answer.
func asks(steps []string) (questions, writes int) {
	for _, step := range steps {
		if kind, _, _ := strings.Cut(step, " "); kind == "Put" {
			writes++
		} else if kind != "Append" {
			questions++
		}
	}
	return questions, writes
}

// Half of the questions are who sends it: their session, the user, and whether they have a second factor.
func TestRegistrationAsksTheStoreAtMostSixTimesForItsWrite(t *testing.T) {
	up := upstream(t)
	quick := fmt.Sprintf(`{"member":"agents","upstream_url":%q}`, up)
	for _, role := range []string{storage.RoleDeveloper, storage.RoleAdmin} {
		h := start(t)
		cookie := h.browser(role)
		for _, c := range []struct {
			name, method, path, body string
			questions, writes        int
		}{
			{"standard mode", "POST", "/register", standard("weather", up), 6, 1},
			{"standard mode, another one", "POST", "/register", standard("maps", up), 6, 1},
			{"standard mode, over what is there", "POST", "/register", standard("weather", up), 6, 1},
			{"quick mode, and the tools that its upstream lists", "POST", "/register", quick, 6, 2},
			{"quick mode, over what is there and what is held of it", "POST", "/register", quick, 7, 2},
			{"an update", "PATCH", "/weather", `{"label":"Weather"}`, 5, 1},
		} {
			steps := h.send(c.method, capabilities+c.path, cookie, c.body)
			if questions, writes := asks(steps); questions > c.questions || writes != c.writes {
				t.Errorf("%s by a user with the role %s asks %d times for %d writes, want at most %d for %d:\n\t%s", c.name,
					role, questions, writes, c.questions, c.writes, strings.Join(steps, "\n\t"))
			}
		}
		if got := h.listed(); got != "agents__one maps__a weather__a" {
			t.Errorf("the bus lists %q, want all that was registered", got)
		}
	}
}

// listed returns the names of the tools that the bus has.
func (h *service) listed() string {
	tools, _ := h.Bus.Unlisted(100)
	slices.Sort(tools)
	return strings.Join(tools, " ")
}

// upstream is an MCP endpoint of one tool.
func upstream(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage
			Method string
		}
		json.NewDecoder(r.Body).Decode(&q)
		results := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}`,
		}
		w.Header().Set("Content-Type", "application/json")
		switch result, known := results[q.Method]; {
		case q.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case known:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, q.ID)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
