package command

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// forItself are the kinds of documents that the service writes for itself, whatever is asked for.
var forItself = []string{"trail", "clock", "node", "lease", "usagemark", "ranking", "stream", "spent", "checkpoint",
	"probe", "look", "looked", "epoch", "hmac", "counter"}

// writing are the endpoints that write by GET, what they write, and why nobody gains by having a browser do it.
var writing = map[string]struct{ kinds, why string }{
	"/oauth/authorize": {"openid session token",
		"the code goes to the application alone (RFC 6749 4.1.1), after consent, and nobody else can redeem it"},
	"/oauth/signin/qr":      {"ticket", "a code to scan that ends in two minutes, for the browser that asks"},
	"/oauth/signin/with/wx": {"ticket", "a sign-in at a provider that has begun, bound to the browser that asks"},
	"/oauth/signin/with/wx/return": {"ticket",
		"the way back from a provider (RFC 6749 4.1.2), bound to the browser that began"},
	"/oauth/logout": {"session revocation",
		"OpenID Connect RP-Initiated Logout 1.0 is a GET; without the hint of this very session a page asks first"},
	"/connect": {"openid token ticket",
		"the old protocol is a GET; what it does takes the appkey or a signature"},
}

// No GET changes anything or tells anybody, because any page can have a browser make one: each endpoint that has one is
// asked as everybody, and everything that reaches the store meanwhile is looked at, mails and the audit trail too.
func TestGETChangesNothingAndNotifiesNoOne(t *testing.T) {
	if testing.Short() {
		t.Skip("asks each endpoint as everybody")
	}
	asked := 0
	for _, r := range rows {
		if r.method != http.MethodGet {
			continue
		}
		for _, object := range r.objects() {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.mailed = true
				for _, c := range credentials {
					cell := w.ask(c, r, object)
					synctest.Wait()
					asked++
					for _, kind := range slices.Sorted(maps.Keys(w.watch.written())) {
						if c.name == "trusted" && kind == "ticket" { // the factor that it owes is asked for first, for ten minutes
							continue
						}
						if !slices.Contains(forItself, kind) && !slices.Contains(strings.Fields(writing[r.path].kinds), kind) {
							t.Errorf("%s as %s (%s) writes %s: let it be a POST, or say why it may", r.name(object), c.name, cell, kind)
						}
					}
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) { // what does tell somebody is seen
		w := newWorld(t)
		w.mailed = true
		root := credentials[slices.IndexFunc(credentials, func(c credential) bool { return c.name == "root" })]
		w.ask(root, row{method: "POST", path: "/api/console/users/{sub}/export", body: "{}", about: true}, "other")
		synctest.Wait()
		if saw := w.watch.written(); !saw["act"] || !saw["mail"] {
			t.Errorf("of an export it sees %v, and neither or not both of the mail and the audit trail", saw)
		}
	})
	if asked < 3000 {
		t.Errorf("only %d requests were made: the test looks in the wrong place", asked)
	}
}
