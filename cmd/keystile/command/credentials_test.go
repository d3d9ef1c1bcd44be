package command

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// caller describes who asks in one cell of the table, and what they hold.
type caller struct {
	header http.Header
	human  human       // whose objects are the caller's own
	client storage.App // that an application's own token is of
}

// credential is a column of the table.
type credential struct {
	name, about string
	make        func(*world) caller
}

const (
	justNow = time.Minute
	longAgo = 11 * time.Minute
)

var credentials = []credential{
	{"none", "nothing", func(w *world) caller { return caller{human: w.somebody("ann", "", justNow)} }},
	{"forged", "a token with every scope, signed by another key, and a made-up cookie", func(w *world) caller {
		ann := w.somebody("ann", "", justNow)
		c := holding(ann, w.forged(ann, w.app("")))
		c.header.Set("Cookie", "open_sso_token="+handle.NewCookie())
		return c
	}},
	{"named", "the browser of somebody whom a provider has named, who is no user and has no invitation: by each kind of " +
		"provider, see TestClosedIsClosedForWhomAProviderKnows", func(w *world) caller {
		return w.asNamed("wx")
	}},
	{"selfreg", "the client_id of an application that registered itself, which nobody has consented to",
		func(w *world) caller {
			w.stranger()
			basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(strangerID+":"))
			return caller{human: w.somebody("ann", "", justNow), header: http.Header{"Authorization": {basic}}}
		}},
	{"app", "the own token of an application that a user has made", func(w *world) caller {
		ann := w.somebody("ann", "", justNow)
		return w.asApp(ann, w.app(ann.Sub))
	}},
	{"opapp", "the own token of an application that an operator has made for nobody", func(w *world) caller {
		return w.asApp(human{}, w.app(""))
	}},
	{"user", "a user's token with openid, profile and email",
		func(w *world) caller { return w.asUser("", "openid profile email", "") }},
	{"tools", "a user's token with tools", func(w *world) caller { return w.asUser("", "tools", "") }},
	{"apps", "a user's token with apps", func(w *world) caller { return w.asUser("", "apps", "") }},
	{"admin", "an administrator's token with every scope",
		func(w *world) caller { return w.asUser(storage.RoleAdmin, "openid tools apps", "") }},
	{"member", "a user's token with the scope of one capability, their own",
		func(w *world) caller { return w.asUser("", scope.Member(w.own), "") }},
	{"bundle", "a user's token for the address of one bundle, their own, with its scope", func(w *world) caller {
		return w.asUser("", scope.Bundle(w.own), worldBase+mcpbus.Path+"/b/"+w.own)
	}},
	{"bus", "a user's token with every scope that is for the bus alone", func(w *world) caller {
		return w.asUser("", "openid tools apps", worldBase+mcpbus.Path)
	}},
	{"visitor", "the cookie of a user without a role, the owner of what is their own, who has just signed in",
		func(w *world) caller { return w.asVisitor("", justNow) }},
	{"visitor-", "the same, signed in 11 minutes ago", func(w *world) caller { return w.asVisitor("", longAgo) }},
	{"dev", "the cookie of a developer who has just signed in",
		func(w *world) caller { return w.asVisitor(storage.RoleDeveloper, justNow) }},
	{"dev-", "the same, signed in 11 minutes ago",
		func(w *world) caller { return w.asVisitor(storage.RoleDeveloper, longAgo) }},
	{"aud", "the cookie of an auditor who has just signed in",
		func(w *world) caller { return w.asVisitor(storage.RoleAuditor, justNow) }},
	{"root", "the cookie of an administrator who has just signed in",
		func(w *world) caller { return w.asVisitor(storage.RoleAdmin, justNow) }},
	{"root-", "the same, signed in 11 minutes ago",
		func(w *world) caller { return w.asVisitor(storage.RoleAdmin, longAgo) }},
	{"trusted", "the cookie of an administrator who has just signed in with a password alone, in a browser that is " +
		"spared their second factor", func(w *world) caller {
		c := w.asVisitor(storage.RoleAdmin, justNow)
		_, err := w.store.SaveFactors(w.Context(), storage.Factors{UserID: c.human.Sub,
			Authenticator: &authn.Authenticator{CreatedAt: time.Now().UTC()},
			AppSecret:     storage.NewSecret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")})
		fatal(w, err)
		return c
	}},
	{"crossed", "the cookie of root, sent by a page of another site", func(w *world) caller {
		c := w.asVisitor(storage.RoleAdmin, justNow)
		c.header.Set("Origin", "https://evil.example")
		return c
	}},
	{"both", "the cookie of visitor and the token of admin", func(w *world) caller {
		c := w.asVisitor("", justNow)
		c.header.Set("Authorization", w.asUser(storage.RoleAdmin, "openid tools apps", "").header.Get("Authorization"))
		return c
	}},
}

func holding(p human, token string) caller {
	return caller{human: p, header: http.Header{"Authorization": {"Bearer " + token}}}
}

func (w *world) asApp(p human, a storage.App) caller {
	c := holding(p, w.machine(a))
	c.client = a
	return c
}

// asUser signs in to an application of somebody else's that is not first-party.
func (w *world) asUser(role, scope, resource string) caller {
	ann := w.somebody("ann", role, justNow)
	return holding(ann, w.grant(ann, w.app(""), scope, resource))
}

func (w *world) asVisitor(role string, ago time.Duration) caller {
	p := w.somebody("ann", role, ago)
	return caller{human: p, header: http.Header{"Cookie": {"open_sso_token=" + p.cookie}}}
}

// asNamed is the browser of somebody who has signed in at a provider, and is asked for an invitation. The state of
// their sign-in is x, as in the row that ends it.
func (w *world) asNamed(provider string) caller {
	cookie, now := handle.NewCookie(), time.Now().UTC()
	profile, err := json.Marshal(connector.Profile{Subjects: []string{"o:wx1:somebody"}, Nickname: "Somebody"})
	fatal(w, err)
	_, err = w.store.SaveTicket(w.Context(), storage.Ticket{ID: handle.Hash("x"), Kind: "joining", Method: provider,
		Browser: handle.Hash(cookie),
		Subject: string(profile), CreatedAt: now, ExpiresAt: now.Add(10 * time.Minute)})
	fatal(w, err)
	return caller{human: w.somebody("ann", "", justNow), header: http.Header{"Cookie": {"keystile_browser=" + cookie}}}
}

// object is the subject of a row.
type object struct {
	app    storage.App
	order  storage.Order
	human  human
	member string
	group  string
}

// thing makes what the path of a row names, of somebody's or of an application's.
func (w *world) thing(r row, p human, a storage.App, name string) (o object) {
	o.human, o.app = p, a
	if p.Sub == "" {
		o.human = w.somebody("owner", "", justNow)
	}
	if a.ID == "" {
		o.app = w.app(p.Sub)
	}
	if strings.Contains(r.query, strangerID) {
		w.stranger()
	}
	if strings.Contains(r.path, "/orders") {
		order := storage.Order{ID: handle.NewOrderID(time.Now()), AppID: o.app.ID, Owner: o.app.Owner, By: "x",
			Status: storage.OrderPending,
			From:   storage.TierEnterprise, Tier: storage.TierWhiteLabel, CreatedAt: time.Now().UTC()}
		o.app.Order = order.ID
		var err error
		o.order, o.app, err = w.store.SaveOrder(w.Context(), order, o.app)
		fatal(w, err)
	}
	if strings.Contains(r.path, "/capabilities") || strings.HasPrefix(r.path, "/api/mcp") {
		o.member = name
		w.capability(o.human, a, name)
	}
	if strings.Contains(r.path, "/groups") {
		o.group = name
		_, err := w.store.SaveGroup(w.Context(), groups.Group{Name: name, Managers: []string{o.human.Sub}})
		fatal(w, err)
		_, err = w.store.AddMember(w.Context(), name, o.human.Sub)
		fatal(w, err)
	}
	return o
}

// stranger stores the application that registered itself, once.
func (w *world) stranger() {
	_, err := w.store.SaveApp(w.Context(), storage.App{ID: strangerID, Name: "Stranger", Public: true,
		Client: &client.Description{
			Kind: client.Dynamic, AuthMethod: client.AuthNone, Grants: []string{"authorization_code"},
			RedirectURIs: []string{"https://evil.example/cb"},
		}})
	if !errors.Is(err, storage.ErrExists) {
		fatal(w, err)
	}
}

// capability registers one with one tool, which is for its owner and for an application if
// there is one, and a bundle of the same name with that tool; and puts them on the bus.
func (w *world) capability(p human, a storage.App, member string) {
	_, err := w.store.SaveCapability(w.Context(), storage.Capability{Member: member, Kind: storage.CapabilityREST,
		UpstreamURL: "http://127.0.0.1:1",
		Publish:     true, Owner: p.Sub, ToolCount: 1}, []toolplan.Tool{{Name: "get", Method: "get", Path: "/x", Description: "gets", InputSchema: []byte(`{"type":"object"}`),
		Call: &toolplan.Call{Template: "/x"}}})
	fatal(w, err)
	rules := []access.Rule{{Subject: "user:" + p.Sub}}
	if a.ID != "" {
		rules = append(rules, access.Rule{Subject: "app:" + a.ID})
	}
	_, err = w.store.SaveAccess(w.Context(), access.List{Member: member, Rules: rules})
	fatal(w, err)
	_, err = w.store.SaveBundle(w.Context(), access.Bundle{Name: member, Tools: []string{member + "__get"}})
	fatal(w, err)
	fatal(w, w.b.Bus.Reload(w.Context()))
}

// marks are the texts by which an answer shows an object.
func (o object) marks() []string {
	all := []string{o.app.Name, o.human.Username}
	if o.order.ID != "" {
		all = append(all, o.order.ID)
	}
	if o.member != "" {
		all = append(all, o.member+"__get", `"`+o.member+`"`)
	}
	if o.group != "" {
		all = append(all, `"`+o.group+`"`, `>`+o.group+`<`)
	}
	return all
}

// ask makes who asks and what about, asks, and returns the cell.
func (w *world) ask(c credential, r row, which string) string {
	w.n++
	w.own = fmt.Sprintf("cap%dx", w.n)
	who := c.make(w)
	own := w.thing(r, who.human, who.client, w.own)
	if w.team != nil {
		w.team(own, who.human)
	}
	eve := w.somebody("eve", "", justNow)
	of := eve
	if who.client.ID != "" {
		of = own.human // another application of the same owner is nobody's business either
	}
	other := w.thing(r, of, storage.App{}, w.own+"other")
	about := map[string]object{"own": own, "other": other, "-": own}[which]
	fill := func(text string) string { return about.fill(text, eve) }
	header := who.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	for name, value := range r.header {
		header.Set(name, fill(value))
	}
	target := fill(r.path)
	if r.query != "" {
		target += "?" + fill(r.query)
	}
	method := r.method
	if method == "ANY" {
		method = http.MethodPost
	}
	var status int
	var shown string
	written := w.watch.during(func() {
		_, out := w.send(method, target, fill(r.body), header)
		status = out.Code
		shown = seen(out.Body.String(), own.marks(), "o") + seen(out.Body.String(), other.marks(), "e")
	})
	if shown+written == "" {
		return fmt.Sprint(status)
	}
	return fmt.Sprintf("%d:%s%s", status, shown, written)
}

func seen(body string, marks []string, letter string) string {
	for _, m := range marks {
		if m != "" && strings.Contains(body, m) {
			return letter
		}
	}
	return ""
}

// fill puts the values of an object into a text.
func (o object) fill(text string, eve human) string {
	absent := func(value, otherwise string) string {
		if value == "" {
			return otherwise
		}
		return value
	}
	secret := "none"
	if o.app.ID != "" {
		secret = o.app.AppKey().Reveal()
	}
	return strings.NewReplacer(
		"{client_id}", absent(o.app.ID, "ksaaaaaaaaaaaaaaaaaaaa"), "{order_id}",
		absent(o.order.ID, "or20260101000000aaaaaaaaaa"),
		"{sub}", absent(o.human.Sub, "nobody"), "{member}", absent(o.member, "nothing"), "{session}",
		absent(o.human.session.ID, "none"),
		"{secret}", secret, "{path...}", "x", "{id}", "none", "{host}", "none.example", "{tool}", "get", "{name}", "wx",
		"{bundle}", absent(o.member, "nothing"), "{group}", absent(o.group, "nothing"), "{eve}", eve.Sub,
		"{$}", "", "{callback}", "https%3A%2F%2Fapp.example.com%2Fcb",
	).Replace(text)
}
