package lostanswer_test

import (
	"net/url"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
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
		w.Errorf("spent at %v, what followed it at %v, of the grants %s and %s", before.SpentAt, after.SpentAt, before.Grant,
			after.Grant)
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

func legacyFlow(w *world) func() func() {
	u, a := w.somebody(""), w.app("")
	cookie, key := w.signedIn(u), a.AppKey().Reveal()
	return func() func() {
		own := url.Values{"appid": {a.ID}, "appkey": {key}, "redirect_uri": {callback}, "state": {"s"}, "act": {"login"}}
		begun := w.must(200, get("/connect.php?"+own.Encode()))
		to, _ := url.Parse(begun.text("url"))
		code := w.must(302, get(to.RequestURI(), session(cookie)...)).code()
		redeem := get("/connect.php?" + url.Values{"act": {"callback"}, "appid": {a.ID}, "appkey": {key},
			"code": {code}}.Encode())
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
