package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestPartOfAnApplicationCanBeChangedAlone(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	for _, c := range []struct {
		typed string
		as    func(*storage.App)
	}{
		{"--name Store", func(a *storage.App) { a.Name = "Store" }},
		{"--add-domain https://B.example/x --add-domain shop.example",
			func(a *storage.App) { a.Domains = []string{"shop.example", "b.example"} }},
		{"--add-redirect-uri https://b.example/cb",
			func(a *storage.App) { a.RedirectURIs = []string{"https://b.example/cb"} }},
		{"--redirect-uri https://shop.example/a --redirect-uri https://shop.example/b", func(a *storage.App) {
			a.RedirectURIs = []string{"https://shop.example/a", "https://shop.example/b"}
		}},
		{"--remove-redirect-uri https://shop.example/a",
			func(a *storage.App) { a.RedirectURIs = []string{"https://shop.example/b"} }},
		{"--remove-domain B.example", func(a *storage.App) { a.Domains = []string{"shop.example"} }},
		{"--redirect-uri=", func(a *storage.App) { a.RedirectURIs = []string{} }},
		{"--domain c.example --domain d.example:3000",
			func(a *storage.App) { a.Domains = []string{"c.example", "d.example:3000"} }},
		{"--tier enterprise", func(a *storage.App) { a.Tiers = []storage.TierChange{{Tier: "enterprise"}} }},
		{"--id-token-alg EdDSA", func(a *storage.App) { a.IDTokenAlg = "EdDSA" }},
		{"--allow-http-redirect", func(a *storage.App) { a.AllowHTTPRedirect = true }},
		{"--forbid-plain", func(a *storage.App) { a.ForbidPlain = true }},
		{"--first-party", func(a *storage.App) { a.FirstParty = true }},
		{"--first-party=false", func(a *storage.App) { a.FirstParty = false }},
		{"--disabled", func(a *storage.App) { a.Disabled = true }},
		{"--disabled=false --allow-http-redirect=false",
			func(a *storage.App) { a.Disabled, a.AllowHTTPRedirect = false, false }},
	} {
		want := o.stored(id)
		c.as(&want)
		o.must(append([]string{"app", "set", id}, strings.Fields(c.typed)...)...)
		got := o.stored(id)
		if show(got)[:17].same(show(want)[:17]) && slices.Equal(got.Domains, want.Domains) &&
			got.AppKey().Equal(want.AppKey().Reveal()) {
			continue
		}
		t.Errorf("after %s: %v, want %v", c.typed, show(got), show(want))
	}
}

// Applications that older versions made for the first administrator are given to their owners.
func TestApplicationIsGivenAway(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada")
	id, _ := o.app()
	if v := o.must("app", "set", id, "--owner", "ada", "--name", "Store"); v["owner"] != ada || v["name"] != "Store" {
		t.Errorf("printed %v", v)
	}
	o.wantFailure(1, `no user "bob"`, "app", "set", id, "--owner", "bob", "--name", "Theirs")
	if app := o.stored(id); app.Owner != ada || app.Name != "Store" {
		t.Errorf("stored is %+v", app)
	}
	if v := o.must("app", "set", id, "--owner="); v["owner"] != "" {
		t.Errorf("printed %v, want nobody", v)
	}
	o.wantFailure(1, "no application", "app", "set", "ksnobody", "--owner", "ada")
	o.wantFailure(1, `no group "ops"`, "app", "set", id, "--owner", "group:ops", "--name", "Theirs")
	o.must("group", "create", "ops")
	if v := o.must("app", "set", id, "--owner", "group:ops"); v["owner"] != "group:ops" || v["name"] != "Store" {
		t.Errorf("printed %v, want the group's", v)
	}
	if v := o.must("app", "create", "--name", "New", "--domain", "new.example", "--owner", "group:ops"); v["owner"] !=
		"group:ops" {
		t.Errorf("printed %v, want the group's", v)
	}
	o.must("group", "delete", "ops")
	if app := o.stored(id); app.Owner != "" {
		t.Errorf("of a group that is gone it belongs to %q", app.Owner)
	}
}

func (a answer) same(b answer) bool {
	x, _ := a.text(true)
	y, _ := b.text(true)
	return x == y
}

func TestChangeThatCanNotBeIsRefusedWhole(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	before := o.stored(id)
	for want, typed := range map[string]string{
		"changes nothing":         "",
		"it is not there":         "--name X --remove-domain other.example",
		"wildcards":               "--name X --add-domain *.example",
		"tier: \"gold\"":          "--name X --tier gold",
		"redirect_uris":           "--name X --redirect-uri https://other.example/",
		"--domain needs a value":  "--domain",
		"a switch is true or":     "--disabled=perhaps",
		"unknown flag --disable;": "--disable",
	} {
		o.wantFailure(2, want, append([]string{"app", "set", id}, strings.Fields(typed)...)...)
	}
	if after := o.stored(id); after.Version != before.Version {
		t.Errorf("it was written: %+v", after)
	}
	for _, c := range []string{"show", "set", "rotate-secret", "delete"} {
		words := []string{"app", c, id[:len(id)-1]} // the id must be whole
		if c == "set" {
			words = append(words, "--name", "X")
		}
		o.wantFailure(1, "there is no application", words...)
	}
}

func TestBrandIsChangedPieceByPiece(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	o.must("app", "set", id, "--brand-name", "Acme", "--brand-color", "#112233")
	shown := o.must("app", "set", id, "--brand-logo", "/logo.svg")
	if b := o.stored(id).Brand; b == nil || *b != (storage.Brand{Name: "Acme", Logo: "/logo.svg", Color: "#112233"}) {
		t.Errorf("brand = %+v", b)
	}
	if fmt.Sprint(shown["brand"]) != "map[color:#112233 logo:/logo.svg name:Acme]" {
		t.Errorf("shown %v", shown)
	}
	if code, _, _ := o.run("", "app", "set", id, "--brand-logo", "http://a.example/x.png"); code == 0 ||
		o.stored(id).Brand.Logo != "/logo.svg" {
		t.Errorf("a logo over http: %d, %+v", code, o.stored(id).Brand)
	}
	o.must("app", "set", id, "--brand-name=", "--brand-logo=", "--brand-color=")
	if b := o.stored(id).Brand; b != nil {
		t.Errorf("brand = %+v, want none", b)
	}
}

func TestApplicationIsShownWithoutItsSecret(t *testing.T) {
	o := newOffice(t)
	id, secret := o.app()
	for _, words := range [][]string{{"app", "show", id}, {"app", "list"}, {"app", "set", id, "--name", "B"}} {
		for _, how := range []string{"--json=false", "--json"} {
			code, out, _ := o.run("", append(words, how)...)
			if code != 0 || !strings.Contains(out, id) || strings.Contains(out, secret) {
				t.Errorf("%q printed %q", words, out)
			}
		}
	}
	if rows := o.rows("app", "list"); len(rows) != 1 || rows[0]["name"] != "B" || rows[0]["disabled"] != false {
		t.Errorf("listed %v", rows)
	}
}

func TestEmptyListIsAnArray(t *testing.T) {
	if _, out, _ := newOffice(t).run("", "app", "list", "--json"); out != "[]\n" {
		t.Errorf("printed %q", out)
	}
}

func TestNameCanNotDrawOnTheTerminal(t *testing.T) {
	o := newOffice(t)
	o.must("app", "create", "--name", "a\x1b[2J\nb\u009bc", "--domain", "a.example")
	if _, out, _ := o.run("", "app", "list"); strings.ContainsAny(out, "\x1b\u009b") || strings.Count(out, "\n") != 2 {
		t.Errorf("printed %q", out)
	}
}

// Decision 4.
func TestOldSecretStaysForTheOverlap(t *testing.T) {
	o := newOffice(t)
	id, old := o.app()
	var now time.Time
	rotate := func(flags ...string) string {
		now = time.Now()
		return o.must(append([]string{"app", "rotate-secret", id}, flags...)...)["client_secret"].(string)
	}
	wantLive := func(after time.Duration, secret string, want bool) {
		t.Helper()
		if got := o.stored(id).Authenticates(secret, now.Add(after)); got != want {
			t.Errorf("%v after the rotation it opens: %t, want %t", after, got, want)
		}
	}
	second := rotate()
	wantLive(24*time.Hour-time.Minute, old, true)
	wantLive(24*time.Hour+time.Minute, old, false)
	wantLive(1000*time.Hour, second, true)
	if a := o.stored(id); !a.AppKey().Equal(second) {
		t.Error("the new one does not come first")
	}
	third := rotate("--overlap", "1h") // the first has leaked: it ends at once, and the second is in use
	wantLive(0, old, false)
	wantLive(59*time.Minute, second, true)
	wantLive(61*time.Minute, second, false)
	fourth := rotate("--overlap", "0")
	for _, secret := range []string{old, second, third} {
		wantLive(0, secret, false)
	}
	wantLive(time.Minute, fourth, true)
	if n := len(o.stored(id).Secrets); n != 1 {
		t.Errorf("%d secrets are kept", n)
	}
	o.wantFailure(2, "it is 0 or a duration", "app", "rotate-secret", id, "--overlap", "soon")
	o.wantFailure(2, "it is 0 or a duration", "app", "rotate-secret", id, "--overlap=-1h")
	public := o.must("app", "create", "--name", "P", "--domain", "a.example", "--public")["client_id"].(string)
	o.wantFailure(2, "is public", "app", "rotate-secret", public)
}

func TestDeletedApplicationIsRevokedFirst(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	seen := &watcher{o: o, id: id}
	o.target.Provider = seen
	o.serve()
	o.must("app", "delete", id)
	if !seen.disabled {
		t.Error("it could still be granted something when it was revoked")
	}
	if len(seen.revoked) != 1 || seen.revoked[0].Kind != driver.RevokeApp || seen.revoked[0].ID != id ||
		!seen.revoked[0].Before.After(time.Now()) {
		t.Errorf("revoked %+v", seen.revoked)
	}
	if _, err := o.target.Store.App(t.Context(), id); err == nil {
		t.Error("it is still there")
	}
}

// watcher looks at the application when its revocation comes.
type watcher struct {
	provider
	o        *office
	id       string
	disabled bool
}

func (w *watcher) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	w.disabled = w.o.stored(w.id).Disabled
	return w.provider.Revoke(ctx, rs...)
}

func TestApplicationWhoseRevocationFailsIsNotRemoved(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	o.target.Provider = &provider{fails: errLocked}
	o.serve()
	o.wantFailure(1, errLocked.Error(), "app", "delete", id)
	o.stored(id)
}

func TestDisablingAnApplicationEndsItsTokens(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	o.must("app", "set", id, "--name", "B")
	if rs := o.revocations(); len(rs) > 0 {
		t.Fatalf("a new name revoked %+v", rs)
	}
	o.must("app", "set", id, "--disabled")
	rs := o.revocations()
	if len(rs) != 1 || rs[0].Kind != driver.RevokeApp || rs[0].ID != id || time.Until(rs[0].Until) < o.target.Granted {
		t.Errorf("revoked %+v", rs)
	}
}

func TestAppRestrictionsOfAnOperatorAreHeld(t *testing.T) {
	o := newOffice(t)
	o.user("ada")
	id := o.must("app", "create", "--name", "Shop", "--domain", "shop.example", "--owner", "ada", "--mfa", "required",
		"--redirect-uri", "https://shop.example/cb")["client_id"].(string)
	for _, c := range []struct{ typed, held string }{
		{"", "mfa"}, {"--add-domain b.example", "mfa"}, {"--remove-domain b.example", "domains mfa"},
		{"--held mfa --held name", "mfa name"}, {"--mfa off", "name"},
		{"--held=", ""}, {"--backchannel-logout-uri=https://shop.example/out", ""},
		{"--backchannel-logout-uri=", "backchannel_logout_uri"},
	} {
		if c.typed != "" {
			o.must(append([]string{"app", "set", id}, strings.Fields(c.typed)...)...)
		}
		if got := strings.Join(o.stored(id).Held, " "); got != c.held {
			t.Errorf("after %q held is %q, want %q", c.typed, got, c.held)
		}
	}
	o.wantFailure(2, "none of the fields", "app", "set", id, "--held", "tier")
	o.must("app", "set", id, "--add-domain", "127.0.0.1", "--backchannel-logout-uri", "http://127.0.0.1:8080/out")
	if a := o.stored(id); a.OperatorLogoutURI != "http://127.0.0.1:8080/out" {
		t.Errorf("stored is %+v", a)
	}
	other, _ := o.app()
	o.must("app", "set", other, "--mfa", "required", "--redirect-uri", "https://shop.example/cb")
	if held := o.stored(other).Held; len(held) > 0 {
		t.Errorf("of an application of nobody's held is %v", held)
	}
	o.must("app", "set", other, "--owner", "ada")
	if held := o.stored(other).Held; !slices.Equal(held, []string{"mfa"}) {
		t.Errorf("of one that is given away held is %v, want mfa", held)
	}
}
