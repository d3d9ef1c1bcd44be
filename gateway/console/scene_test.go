package console_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/toolpins"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// roles are the columns of the table of rights. The role with most rights comes last, so that the others find
// what they may not touch.
var roles = []string{"nobody", "guest", "newcomer", "owner", "developer", "auditor", "admin"}

// has tells who of them has something of their own.
var has = map[string]bool{"owner": true, "developer": true, "auditor": true, "admin": true}

// strange is in each text of what belongs to somebody else, and in no address.
const strange = "Zq7"

// scene is a console that has everything it can have, with somebody of each role.
type scene struct {
	*fixture
	written *written
	who     map[string]testUser
	records []event.Entry // newest first
	archive
	own map[string]map[string]string // what stands in the braces of a path, by role; "": of somebody else
}

func newScene(t testing.TB) *scene {
	s := &scene{written: &written{Backend: backend.New(t)}, who: map[string]testUser{},
		own: map[string]map[string]string{}}
	s.fixture = newNode(t, s.written, storage.NewMasterKey(), operates, func(c *console.Config) {
		c.Archive = s
		in := c.Visitors.(*signin.SignIn)
		c.Nodes, c.Bus, c.SignIn, c.Forms, c.FactorsPage = twoNodes{}, new(shop), in, in, in.FactorsPage()
		c.Lockout, c.Delays, c.Sample = in, in, true
		c.Registry = registry.Forms{Registry: must(registry.New(t.Context(), registry.Config{
			BaseURL: base, Store: c.Store, Visitors: c.Visitors, NoDelivery: true,
			Log:   slog.New(slog.DiscardHandler),
			Audit: c.Trail,
			Pins:  must(pins.New(pins.Config{Store: c.Store}))(t),
		}))(t)}
	})
	for role, is := range map[string]string{"guest": "", "newcomer": storage.RoleDeveloper, "owner": "",
		"developer": storage.RoleDeveloper, "auditor": storage.RoleAuditor, "admin": storage.RoleAdmin} {
		s.who[role] = s.testUser(role, is)
	}
	for _, role := range roles {
		s.own[role] = map[string]string{"sub": s.who[role].Sub}
		if has[role] {
			s.own[role] = s.things(s.who[role].User, "x"+role, "Mine"+role)
			s.own[role]["seq"] = s.recorded(s.own[role]["client_id"], role)
		}
	}
	zoe := must(s.users.Create(t.Context(), storage.User{Username: "zoe", Nickname: strange, Role: storage.RoleDeveloper},
		password))(t)
	s.signedIn(zoe.Sub, time.Now())
	s.own[""] = s.things(zoe, "y", strange)
	s.own[""]["seq"] = s.recorded(s.own[""]["client_id"], strange)
	must(s.store.SaveBundle(t.Context(), access.Bundle{Name: "kit", Label: "a kit", Tools: []string{"y__getPet"},
		Rules: []access.Rule{{Subject: "everyone"}}}))(t)
	must(s.store.SetClientHost(t.Context(), "agent.example", false))(t)
	s.agent(document, client.Document, time.Time{})
	s.agent(dynamic, client.Dynamic, time.Now().Add(time.Hour))
	s.written.since()
	return s
}

// recorded writes a record about an application, and returns its number.
func (s *scene) recorded(app, detail string) string {
	seq := uint64(len(s.records) + 1)
	s.records = append([]event.Entry{{Seq: seq, Event: event.Event{At: time.Now(), Kind: event.Call, App: app,
		Detail: detail}}}, s.records...)
	return fmt.Sprint(seq)
}

// Search makes the scene the Archive of what was recorded.
func (s *scene) Search(_ context.Context, q event.Query) (p event.Page, _ error) {
	for _, e := range s.records {
		if (q.Before == 0 || e.Seq < q.Before) && (q.Apps == nil || slices.Contains(q.Apps, e.App)) &&
			(q.App == "" || q.App == e.App) && (q.Limit == 0 || len(p.Entries) < q.Limit) {
			p.Entries = append(p.Entries, e)
		}
	}
	return p, nil
}

// things makes one of everything that somebody can have.
func (s *scene) things(u storage.User, member, name string) map[string]string {
	app, order := s.waits(s.app(name, u.Sub))
	app.Name = name
	app = must(s.store.SaveApp(s.Context(), app))(s)
	must(s.store.SaveConsent(s.Context(), storage.Consent{AppID: app.ID, UserID: u.Sub, Scope: "openid"}))(s)
	must(s.store.SaveCapability(s.Context(), storage.Capability{
		Member: member, Label: name, Kind: storage.CapabilityREST, UpstreamURL: "https://up.example.com",
		WebhookURL: "https://hook.example.com/", Publish: true, Owner: u.Sub, ToolCount: 1,
	}, []toolplan.Tool{{Name: "getPet", Method: "get", Path: "/p", Description: name, InputSchema: json.RawMessage(`{"type":"object"}`), Call: &toolplan.Call{Template: "/p"}}},
		storage.Delivery{Event: "tools.changed", URL: "https://hook.example.com/", Payload: []byte("{}")}))(s)
	d := must(s.store.Deliveries(s.Context(), member))(s)[0]
	d.GivenUpAt, d.Attempts, d.LastError = time.Now(), 9, name
	must(s.store.SaveDelivery(s.Context(), d))(s)
	held := []toolplan.Tool{{Name: "getPet", Description: name + " changed",
		InputSchema: json.RawMessage(`{"type":"object"}`)}}
	digest := toolpins.Digest(held)
	must(s.store.SaveHeld(s.Context(), toolplan.Held{Member: member, Tools: held, Digest: digest, First: digest,
		At: time.Now()}))(s)
	team := must(s.store.SaveGroup(s.Context(), groups.Group{Name: member + "-team", Label: name,
		Managers: []string{u.Sub}}))(s)
	must(s.store.AddMember(s.Context(), team.Name, u.Sub))(s)
	must(s.store.SaveAccess(s.Context(), access.List{Member: member, Rules: []access.Rule{{Subject: "everyone"}}}))(s)
	return map[string]string{
		"sub": u.Sub, "client_id": app.ID, "name": name, "order_id": order, "member": member, "tool": "getPet",
		"group": team.Name, "delivery": d.ID, "digest": digest, "key": s.key(u.Sub), "rule": everyoneRule,
	}
}

// everyoneRule is the id of a rule that allows everyone everything.
var everyoneRule = func() string {
	sum := sha256.Sum256([]byte(`["everyone",false,null,false]`))
	return hex.EncodeToString(sum[:10])
}()

// idOf tells what {id} is in a path.
func idOf(path string) string {
	for part, is := range map[string]string{"/deliveries/": "delivery", "/keys/": "key", "/access/": "rule",
		"/sessions/": "session"} {
		if strings.Contains(path, part) {
			return is
		}
	}
	return "id"
}

var braces = regexp.MustCompile(`\{[a-z_]+\}|\{\$\}`)

// handOver takes from somebody else what they own, if a request is to erase them.
func (s *scene) handOver(q request) {
	s.Helper()
	if q.act != "erase" && q.name() != "DELETE /api/console/users/{sub}" {
		return
	}
	app := must(s.store.App(s.Context(), s.own[""]["client_id"]))(s)
	must(s.store.GiveApp(s.Context(), app, ""))(s)
	c, tools, err := s.store.Tools(s.Context(), s.own[""]["member"])
	if err != nil {
		s.Fatal(err)
	}
	c.Owner = s.own["admin"]["sub"]
	must(s.store.SaveCapability(s.Context(), c, tools))(s)
	s.written.since()
}

// fill puts what belongs to a role into a text.
func (s *scene) fill(text, role, path string) string {
	return braces.ReplaceAllStringFunc(text, func(word string) string {
		switch word = strings.Trim(word, "{}"); word {
		case "$":
			return ""
		case "host":
			return "agent.example"
		case "dynamic":
			return dynamic
		case "document":
			return document
		case "bundle":
			return "kit"
		case "bundlerule":
			return everyoneRule
		case "guest":
			return s.who["guest"].Sub
		case "name":
			if strings.Contains(path, "/bundles/") {
				return "kit"
			}
		case "id":
			if strings.Contains(path, "/bundles/") {
				return everyoneRule
			}
			word = idOf(path)
		}
		if word == "session" {
			all := must(s.store.Sessions(s.Context(), s.own[role]["sub"]))(s)
			sum := sha256.Sum256([]byte("console session\x00" + all[0].ID))
			return hex.EncodeToString(sum[:16])
		}
		value, ok := s.own[role][word]
		if !ok {
			s.Fatalf("%s: there is no {%s} of %q", path, word, role)
		}
		return value
	})
}

// session returns the id of the session of a browser.
func (u testUser) session() string {
	return handle.Hash(strings.TrimPrefix(u.cookie, "open_sso_token="))
}

// formFor returns the id of a form that a page would show to a session at a time.
func formFor(session, path string, at time.Time) string {
	v := &ui.View{Actor: admin.Actor{Session: session}, URL: &url.URL{Path: path}, Now: at}
	return v.FormID()
}

var drawnID = regexp.MustCompile(`name="form" value="[^"]*"`)

// outcome tells what a request that was sent has done: its status, and behind it what came of it.
func (s *scene) outcome(w *httptest.ResponseRecorder, sent string) string {
	cell := fmt.Sprint(w.Code)
	what, _ := s.written.since()
	s.mu.Lock()
	noted := len(s.events)
	s.events, s.notices = nil, nil
	s.mu.Unlock()
	body := w.Body.String()
	if strings.Contains(body, "<title>Sign in") {
		cell += "s"
	}
	said := drawnID.ReplaceAllString(body, "") // which is drawn, and may have any letters
	shows := strings.Contains(said, strange)
	for name, value := range s.own[""] {
		unique := name == "client_id" || name == "order_id" || name == "sub" || name == "delivery" || name == "key"
		shows = shows || unique && !strings.Contains(sent, value) && strings.Contains(said, value)
	}
	if shows {
		cell += "e"
	}
	if strings.Contains(body, `name="form"`) {
		cell += "f"
	}
	if len(what) > 0 {
		cell += "w"
	}
	if noted > 0 {
		cell += "t"
	}
	return cell
}
