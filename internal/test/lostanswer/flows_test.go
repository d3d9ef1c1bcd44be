package lostanswer_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/handle"
)

// flow is something that clients do. begin makes what it needs while the wire is whole, and returns the
// flow itself, in which answers get lost; that returns what has to hold when everything is settled.
type flow struct {
	name  string
	begin func(w *world) func() func()
}

var flows = []flow{
	{"authorize, code, token", authorizeFlow},
	{"refresh", refreshFlow},
	{"client_credentials and a charged call", chargeFlow},
	{"revoke", revokeFlow},
	{"sign in", signInFlow},
	{"register a document and list its tools", registerFlow},
	{"call a tool", toolFlow},
	{"order another tier", orderFlow},
	{"make an application", appFlow},
	{"redeem a code of the old endpoints", legacyFlow},
}

// A grant whose code was redeemed by a request that was answered 503 is one that nobody can use: the
// repeated request is refused, and the browser is sent again.
func authorizeFlow(w *world) func() func() {
	u, a := w.somebody(""), w.app("")
	cookie := w.signedIn(u)
	return func() func() {
		code := w.must(302, w.authorize(a, cookie, "openid")).code()
		got := w.send(w.redeem(a, code))
		if got.Code == 400 && got.refused > 0 && got.text("error") == "invalid_grant" {
			code = w.must(302, w.authorize(a, cookie, "openid")).code()
			got = w.must(200, w.redeem(a, code))
		}
		if got.Code != 200 {
			w.Errorf("redeem = %d %s", got.Code, got.Body)
		}
		return func() {
			w.spentOnce(code, got.text("refresh_token"))
			w.must(200, get("/oauth/userinfo", bearer(got.text("access_token"))...))
			if again := w.send(w.redeem(a, code)); again.Code != 400 {
				w.Errorf("the code a second time = %d %s", again.Code, again.Body)
			}
			w.must(200, w.refresh(a, got.text("refresh_token")))
		}
	}
}

// spentOnce checks that what was presented is spent, and what came of it is not.
func (w *world) spentOnce(presented, next string) {
	w.Helper()
	before, err := w.sees.Token(w.Context(), handle.KeyOf(presented))
	fatal(w, err)
	after, err := w.sees.Token(w.Context(), handle.KeyOf(next))
	fatal(w, err)
	if before.SpentAt.IsZero() || !after.SpentAt.IsZero() || before.Grant != after.Grant {
		w.Errorf("spent at %v, what followed it at %v, of the grants %s and %s", before.SpentAt, after.SpentAt, before.Grant, after.Grant)
	}
}

func refreshFlow(w *world) func() func() {
	u, a := w.somebody(""), w.app("")
	first := w.granted(a, u, "openid").text("refresh_token")
	return func() func() {
		got := w.send(w.refresh(a, first))
		if got.Code == 400 && got.refused > 0 && got.text("error") == "invalid_grant" {
			return func() {} // signing in again is authorizeFlow
		}
		if got.Code != 200 {
			w.Errorf("refresh = %d %s", got.Code, got.Body)
		}
		return func() {
			w.spentOnce(first, got.text("refresh_token"))
			second := w.must(200, w.refresh(a, got.text("refresh_token")))
			if again := w.send(w.refresh(a, first)); again.Code != 400 {
				w.Errorf("the old refresh token = %d %s", again.Code, again.Body)
			}
			w.must(200, get("/oauth/userinfo", bearer(second.text("access_token"))...))
		}
	}
}

func chargeFlow(w *world) func() func() {
	a := w.app("")
	return func() func() {
		token := w.machine(a)
		for range 3 {
			w.must(200, get("/ai/", bearer(token)...))
		}
		return func() {
			if calls := w.charged(a, "ai"); calls != 3 {
				w.Errorf("%d calls are counted of 3 that were answered", calls)
			}
		}
	}
}

func revokeFlow(w *world) func() func() {
	u, a := w.somebody(""), w.app("")
	g := w.granted(a, u, "openid")
	w.must(200, get("/oauth/userinfo", bearer(g.text("access_token"))...))
	return func() func() {
		form := url.Values{"client_id": {a.ID}, "client_secret": {a.AppKey().Reveal()}, "token": {g.text("refresh_token")}}
		w.must(200, post("/oauth/revoke", form))
		w.must(401, get("/oauth/userinfo", bearer(g.text("access_token"))...))
		return func() {
			w.must(401, get("/oauth/userinfo", bearer(g.text("access_token"))...))
			if again := w.send(w.refresh(a, g.text("refresh_token"))); again.Code != 400 {
				w.Errorf("a revoked refresh token = %d %s", again.Code, again.Body)
			}
			t, err := w.sees.Token(w.Context(), handle.KeyOf(g.text("refresh_token")))
			fatal(w, err)
			if n := w.revocationsOf(t.Grant); n != 1 {
				w.Errorf("%d revocations of the grant", n)
			}
		}
	}
}

func (w *world) revocationsOf(grant string) (n int) {
	for after := uint64(0); ; {
		page, err := w.sees.Revocations(w.Context(), after, driver.Page)
		fatal(w, err)
		for _, r := range page {
			if after = r.Seq; r.Kind == driver.RevokeGrant && r.ID == grant {
				n++
			}
		}
		if len(page) < driver.Page {
			return n
		}
	}
}

func signInFlow(w *world) func() func() {
	u, a := w.somebody(""), w.app("")
	return func() func() {
		got := w.must(303, post("/oauth/signin", url.Values{"username": {u.Username}, "password": {password}}))
		return func() {
			if w.must(302, w.authorize(a, got.cookie("open_sso_token"), "openid")).code() == "" {
				w.Error("the cookie signs nobody in")
			}
			sessions, err := w.service.Store.Sessions(w.Context(), u.Sub)
			fatal(w, err)
			if len(sessions) != 1 && len(sessions) > 1+got.refused {
				w.Errorf("%d sessions of one sign-in that was answered 503 %d times", len(sessions), got.refused)
			}
		}
	}
}

const document = `{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"paths":{
	"/orders":{"post":{"operationId":"createOrder","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"item":{"type":"string"}}}}}}}},
	"/orders/{id}":{"get":{"operationId":"getOrder","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}]}}}}`

func (w *world) registration(member string) string {
	return fmt.Sprintf(`{"member":%q,"upstream_url":%q,"openapi":%s}`, member, w.shop.URL, document)
}

func (w *world) tools(token string) (names []string) {
	w.Helper()
	a := w.must(200, postJSON("/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, bearer(token)...))
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	json.Unmarshal(a.Body.Bytes(), &list)
	for _, t := range list.Result.Tools {
		names = append(names, t.Name)
	}
	return names
}

func registerFlow(w *world) func() func() {
	u, token := w.somebody(storage.RoleDeveloper), w.machine(w.app(""))
	cookie, member := w.signedIn(u), fmt.Sprintf("shop%d", w.n)
	return func() func() {
		made := w.must(200, postJSON("/api/console/capabilities/register", w.registration(member), session(cookie)...))
		if !strings.Contains(made.Body.String(), `"tool_count":2`) {
			w.Errorf("register = %s", made.Body)
		}
		check := func() {
			n := 0
			for _, name := range w.tools(token) {
				if strings.HasPrefix(name, member+"__") {
					n++
				}
			}
			if n != 2 {
				w.Errorf("%d tools are listed, want 2", n)
			}
		}
		check()
		return func() {
			check()
			w.must(200, request{"DELETE", "/api/console/capabilities/" + member, "", pairs(session(cookie))})
		}
	}
}

func toolFlow(w *world) func() func() {
	u, a := w.somebody(storage.RoleDeveloper), w.app("")
	cookie, member := w.signedIn(u), fmt.Sprintf("shop%d", w.n)
	w.must(200, postJSON("/api/console/capabilities/register", w.registration(member), session(cookie)...))
	token, before := w.machine(a), w.shop.calls.Load()
	return func() func() {
		const times = 2
		for range times {
			got := w.must(200, postJSON("/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+member+`__getOrder","arguments":{"id":"7"}}}`, bearer(token)...))
			if !strings.Contains(got.Body.String(), `"structuredContent":{"id":"7"}`) {
				w.Errorf("tools/call = %s", got.Body)
			}
		}
		return func() {
			if calls, counted := w.shop.calls.Load()-before, w.charged(a, "mcp"); calls != times || counted != times {
				w.Errorf("%d calls reached the upstream and %d are counted of %d that were answered", calls, counted, times)
			}
			w.must(200, request{"DELETE", "/api/console/capabilities/" + member, "", pairs(session(cookie))})
		}
	}
}

func orderFlow(w *world) func() func() {
	u, manager := w.somebody(""), w.app("")
	token := w.granted(manager, u, "openid apps").text("access_token")
	id := w.must(200, postJSON("/api/v1/apps", `{"name":"Shop","domains":["shop.example.com"]}`, bearer(token)...)).text("data.client_id")
	return func() func() {
		made := w.must(200, postJSON("/api/v1/billing/upgrade", `{"client_id":"`+id+`","tier":"white_label"}`, bearer(token)...))
		order := made.text("data.order_id")
		w.must(200, get("/api/v1/billing/orders/"+order, bearer(token)...))
		canceled := w.send(request{"DELETE", "/api/v1/billing/orders/" + order, "", pairs(bearer(token))})
		if canceled.Code != 200 && (canceled.Code != 400 || canceled.refused == 0) {
			w.Errorf("cancel = %d %s", canceled.Code, canceled.Body)
		}
		return func() {
			all, _, err := w.service.Store.Orders(w.Context(), storage.OrderQuery{AppID: id}, "", 10)
			fatal(w, err)
			if len(all) != 1 || all[0].ID != order || all[0].Status != storage.OrderCanceled {
				w.Errorf("the orders are %+v, want one that is canceled, %s", all, order)
			}
			w.noted("order create "+order, made)
			w.noted("order cancel "+order, canceled)
		}
	}
}

func appFlow(w *world) func() func() {
	u, manager := w.somebody(""), w.app("")
	token := w.granted(manager, u, "openid apps").text("access_token")
	return func() func() {
		made := w.must(200, postJSON("/api/v1/apps", `{"name":"Shop","domains":["shop.example.com"]}`, bearer(token)...))
		id, secret := made.text("data.client_id"), made.text("data.client_secret")
		return func() {
			w.must(200, post("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}))
			owned, _, err := w.service.Store.Apps(w.Context(), u.Sub, "", 10)
			fatal(w, err)
			if len(owned) != 1 && len(owned) > 1+made.refused { // nothing tells a repeated request from a second one
				w.Errorf("there are %d applications (after %d times 503), want the one that was made", len(owned), made.refused)
			}
			w.noted("app create "+id, made)
		}
	}
}

func legacyFlow(w *world) func() func() {
	u, a := w.somebody(""), w.app("")
	cookie, key := w.signedIn(u), a.AppKey().Reveal()
	return func() func() {
		own := url.Values{"appid": {a.ID}, "appkey": {key}, "redirect_uri": {callback}, "state": {"s"}, "act": {"login"}}
		begun := w.must(200, get("/connect.php?"+own.Encode()))
		to, _ := url.Parse(begun.text("url"))
		code := w.must(302, get(to.RequestURI(), session(cookie)...)).code()
		redeem := get("/connect.php?" + url.Values{"act": {"callback"}, "appid": {a.ID}, "appkey": {key}, "code": {code}}.Encode())
		got := w.send(redeem)
		if got.text("social_uid") == "" && got.refused == 0 { // else the code may have been redeemed by then
			w.Errorf("callback = %s", got.Body)
		}
		return func() {
			if again := w.send(redeem); again.text("social_uid") != "" {
				w.Errorf("the code a second time = %s", again.Body)
			}
		}
	}
}
