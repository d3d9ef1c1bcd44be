package pages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/filled"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/groups"
)

// usedArgs start a service that has been used.
var usedArgs = []string{"--limits-per-ip", "100000", "--upstreams-allow-private", "127.0.0.0/8"}

// usedService is a service that has been used, and where things are in it.
type usedService struct {
	*service
	upstream   string
	app, order string
	user       string // a sub, of somebody who is no administrator
}

// used starts a service that has an application with an order, a capability with calls and webhooks that were
// given up, and a user with sessions, grants and keys. say makes a text that somebody can set from one.
func used(t *testing.T, say func(text string) string) *usedService {
	t.Helper()
	name, err := json.Marshal(say("Mina Park"))
	fatal(t, err)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/orders/404" {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Write([]byte(`{"orders":[{"id":17,"book":"9780141439518","status":"sent","customer":{"name":` + string(name) + `}},{"id":18,"status":"open"}],"total":2}`))
	}))
	t.Cleanup(shop.Close)
	data := t.TempDir()
	s := start(t, data, usedArgs...)
	f := &usedService{upstream: shop.URL, app: firstRunOf(t, data).App.ClientID}
	document := filepath.Join(t.TempDir(), "shop.json")
	fatal(t, os.WriteFile(document, []byte(filled.Bookshop), 0o600))
	must(t, "capability", "register", "bookshop", "--label", say("Book shop"), "--description",
		say("Orders of the shop: find, place and cancel them"),
		"--upstream", shop.URL, "--openapi", document, "--data", data)
	token := machineToken(t, s, f.app, firstRunOf(t, data).App.ClientSecret)
	for _, call := range []string{`"findOrders","arguments":{"status":"open"}`, `"getOrder","arguments":{"id":17}`, `"getOrder","arguments":{"id":404}`, `"findOrders","arguments":{}`} {
		asked := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bookshop__` + call[1:] + `}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/mcp", strings.NewReader(asked))
		fatal(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		if resp, body := do(t, http.DefaultClient, r); resp.StatusCode != 200 || !strings.Contains(body, `"content"`) {
			t.Fatalf("a tool answers %d %s", resp.StatusCode, body)
		}
	}
	get(t, http.DefaultClient, s.base+"/oauth/"+url.PathEscape(say("nowhere")), "User-Agent",
		say("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"), "X-Request-ID", say("7f3a"))
	post(t, s, "/oauth/signin", url.Values{"username": {say("mina")}, "password": {"wrong"}})
	s.stop() // so that everything is written down
	filled.Strangers(t, data)
	f.store(t, data, say)
	f.service = start(t, data, usedArgs...)
	return f
}

// store writes what takes long to come about, or other people.
func (f *usedService) store(t *testing.T, data string, say func(text string) string) {
	t.Helper()
	s, release := filled.Open(t, data)
	defer release()
	ctx, now := t.Context(), time.Now().UTC()
	mina, err := s.CreateUser(ctx, storage.User{Username: say("mina"), Name: say("Mina Park"), Nickname: say("Mina"),
		Email: "mina@example.com", EmailVerified: true, Role: "developer",
		Attributes: map[string]string{"department": say("Sales")}})
	fatal(t, err)
	f.user = mina.Sub
	for _, agent := range []string{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 " +
		"Safari/604.1", "curl/8.5.0 "} {
		_, err = s.SaveSession(ctx, storage.Session{ID: handle.Hash(handle.NewCookie()), UserID: mina.Sub, LoginType: "self",
			AuthTime: now, ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour), IP: "192.0.2.7", Agent: say(agent)})
		fatal(t, err)
	}
	_, err = s.SaveConsent(ctx, storage.Consent{AppID: f.app, UserID: mina.Sub, Scope: "email openid profile tools",
		CreatedAt: now, UpdatedAt: now})
	fatal(t, err)
	_, err = s.CreateAPIKey(ctx, apikey.Key{ID: handle.Hash(handle.NewAPIKey()), UserID: mina.Sub,
		Name: say("Nightly build"), Scope: "tools"}, 30*24*time.Hour)
	fatal(t, err)
	app, err := s.App(ctx, f.app)
	fatal(t, err)
	app.Name, app.Owner = say(appName), mina.Sub
	order := storage.Order{ID: handle.NewOrderID(now), AppID: app.ID, Owner: mina.Sub, By: mina.Sub, From: "free",
		Tier: "white_label", Status: storage.OrderPending, AmountFen: 99_900, CreatedAt: now}
	app.Order, f.order = order.ID, order.ID
	_, _, err = s.SaveOrder(ctx, order, app)
	fatal(t, err)
	_, err = s.SaveGroup(ctx, groups.Group{Name: "ops", Label: say("Operations"), Managers: []string{mina.Sub}})
	fatal(t, err)
	_, err = s.AddMember(ctx, "ops", mina.Sub)
	fatal(t, err)
	f.given(t, s, say)
}

// given makes webhooks that were given up.
func (f *usedService) given(t *testing.T, s *storage.Store, say func(text string) string) {
	t.Helper()
	ctx, now := t.Context(), time.Now().UTC()
	c, tools, err := s.Tools(ctx, "bookshop")
	fatal(t, err)
	told := storage.Delivery{Event: "capability.changed", URL: "https://hooks.example/keystile", Payload: []byte(`{"type":"capability.changed"}`)}
	_, err = s.SaveCapability(ctx, c, tools, told, told)
	fatal(t, err)
	for range 2 {
		d, err := s.FirstDelivery(ctx, "bookshop")
		fatal(t, err)
		d.Attempts, d.LastStatus, d.LastError, d.GivenUpAt = 8, 503, say("the endpoint answered 503"), now
		_, err = s.SaveDelivery(ctx, d)
		fatal(t, err)
	}
}

// pages are all those of the console that can be opened by an address.
func (f *usedService) pages() []struct{ name, path string } {
	return []struct{ name, path string }{
		{"overview", "/console/"}, {"settlements", "/console/settlements"}, {"apps", "/console/apps"},
		{"app-new", "/console/apps/new"}, {"app", "/console/apps/" + f.app + "?redirect_uri=https://evil.example/"},
		{"clients", "/console/clients"}, {"client-hosts", "/console/clients/hosts"},
		{"client", "/console/clients/show?id=" + filled.DynamicID}, {"access", "/console/access"},
		{"access-one", "/console/access/bookshop"}, {"bundles", "/console/bundles"},
		{"visible", "/console/visible?sub=" + f.user},
		{"capabilities", "/console/capabilities"}, {"capability-new", "/console/capabilities/new"},
		{"capability", "/console/capabilities/bookshop"},
		{"capability-edit", "/console/capabilities/bookshop/edit"},
		{"deliveries", "/console/capabilities/bookshop/deliveries"},
		{"tool", "/console/capabilities/bookshop/tools/placeOrder"},
		{"usage", "/console/usage"}, {"usage-app", "/console/usage?granularity=hour&client_id=" + f.app},
		{"usage-tool", "/console/usage?by=tool&client_id=" + f.app},
		{"orders", "/console/orders"}, {"order", "/console/orders/" + f.order}, {"tiers", "/console/tiers"},
		{"quota", "/console/quota?app=" + f.app},
		{"users", "/console/users"}, {"user-new", "/console/users/new"}, {"user", "/console/users/" + f.user},
		{"user-sessions", "/console/users/" + f.user + "/sessions"},
		{"user-grants", "/console/users/" + f.user + "/grants"}, {"user-keys", "/console/users/" + f.user + "/keys"},
		{"user-groups", "/console/users/" + f.user + "/groups"}, {"groups", "/console/groups"},
		{"group", "/console/groups/ops"}, {"group-settings", "/console/groups/ops/settings"},
		{"group-danger", "/console/groups/ops/danger"},
		{"audit", "/console/audit"}, {"audit-record", "/console/audit/1"}, {"audit-chain", "/console/audit/chain"},
		{"keys", "/console/keys"}, {"health", "/console/health"}, {"nodes", "/console/nodes"}, {"events", "/console/events"},
		{"settings", "/console/settings"},
	}
}
