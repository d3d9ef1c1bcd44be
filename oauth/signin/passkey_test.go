package signin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/passkey"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/authn"
)

func TestPasskeySignsInInPlaceOfAPassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		v, _ := f.b.session()
		if v.AMR != "pwd hwk user mfa" {
			t.Errorf("after adding it the session has %q: making it has verified its user", v.AMR)
		}
		b := newBrowser(f.fixture)
		o, a := b.begin(web.PasskeyPath + "/begin")
		if a.Code != 200 || o.RPID != "id.example.com" || o.UserVerification != "required" || len(o.Allow) != 0 ||
			a.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("options = %d %s", a.Code, a.Body)
		}
		a = b.form(web.PasskeyPath, "assertion", f.device.prove(o), "query", "client_id=x&state=1")
		v, in := b.session()
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?client_id=x&state=1" || !in ||
			v.UserID != f.mina.Sub {
			t.Fatalf("a passkey = %d to %q, signed in %v: %s", a.Code, a.Header().Get("Location"), in, a.Body)
		}
		if v.AMR != "hwk user mfa" || v.LoginType != "self" || v.Method != passkey.Method ||
			factor.LevelOf(v) != factor.LevelResistant {
			t.Errorf("the session = %+v; want two factors of a passkey", v)
		}
		kept, err := f.store.Factors(context.Background(), f.mina.Sub)
		must(t, err)
		if p := kept.Passkeys[0]; p.Name != "my phone" || p.UsedAt.IsZero() || p.Synced ||
			strings.Contains(p.Credential, "attestation\":{\"clientDataJSON\":\"ey") {
			t.Errorf("kept is %+v", p)
		}
	})
}

func TestSyncedPasskeyIsOneOfSoftware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		d, b := newAuthenticator(t), newBrowser(f)
		d.flags |= eligible | backedUp
		b.first()
		b.addPasskey(d, "cloud")
		other := newBrowser(f)
		other.signInBy(d)
		if v, _ := other.session(); v.AMR != "swk user mfa" {
			t.Errorf("the session has %q, want swk", v.AMR)
		}
	})
}

func TestPasskeyIsTheSecondFactorOfAPassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		b := newBrowser(f.fixture)
		if a := b.first(); a.Header().Get("Location") != factor.Path {
			t.Fatalf("the first step leads to %q", a.Header().Get("Location"))
		}
		if page := b.do(get(factor.Path)); !strings.Contains(page.Body.String(), "Use a passkey") {
			t.Error("the page offers no passkey")
		}
		o, a := b.begin(web.PasskeySecondPath + "/begin")
		if a.Code != 200 || len(o.Allow) != 1 || o.Allow[0].ID != b64(f.device.id) || o.UserVerification != "preferred" {
			t.Fatalf("options = %d %s", a.Code, a.Body)
		}
		f.device.flags = present // without verifying who it is
		a = b.form(web.PasskeySecondPath, "assertion", f.device.prove(o))
		if v, in := b.session(); a.Code != 303 || !in || v.AMR != "pwd hwk user mfa" {
			t.Errorf("the second step = %d, session %+v", a.Code, v)
		}
	})
}

func TestPasskeyOwnerKeepsTheirFactorsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		kept := func() []authn.Passkey {
			all, err := f.store.Factors(context.Background(), f.mina.Sub)
			must(t, err)
			return all.Passkeys
		}
		page := func() string { return f.b.do(get(passkey.Path)).Body.String() }
		if !strings.Contains(page(), "my phone") || !strings.Contains(page(), "On one device") {
			t.Error("the page does not show it")
		}
		id := b64(f.device.id)
		f.b.form(passkey.Path+"/rename", "passkey", id, "name", "old phone <b>")
		if !strings.Contains(page(), "old phone &lt;b&gt;") {
			t.Errorf("after a change of its name it is %+v", kept())
		}
		for name, bad := range map[string]string{"empty": " ", "long": strings.Repeat("x", 101), "control": "a\x07b"} {
			if a := f.b.form(passkey.Path+"/rename", "passkey", id, "name", bad); a.Code != 400 {
				t.Errorf("a name that is %s = %d, want 400", name, a.Code)
			}
		}
		o, _ := f.b.begin(passkey.Path + "/begin")
		if len(o.Exclude) != 1 || o.Selection.ResidentKey != "required" || o.Selection.UserVerification != "required" ||
			o.Attestation != "none" || o.User.Name != "Mina" {
			t.Errorf("options of another one = %+v", o)
		}
		if a := f.b.form(passkey.Path, "name", "again", "credential", f.device.make(o)); a.Code != 400 || len(kept()) != 1 {
			t.Errorf("the same passkey again = %d, %d kept", a.Code, len(kept()))
		}
		before, err := f.store.Factors(context.Background(), f.mina.Sub)
		must(t, err)
		f.b.form(passkey.Path+"/end", "passkey", id)
		after, err := f.store.Factors(context.Background(), f.mina.Sub)
		must(t, err)
		if len(after.Passkeys) != 0 || after.Epoch == before.Epoch {
			t.Errorf("after it is removed: %+v", after)
		}
		if a := newBrowser(f.fixture).signInBy(f.device); a.Code != 401 {
			t.Errorf("a removed passkey = %d, want 401", a.Code)
		}
	})
}

func TestLastPasskeyThatIsRequiredIsNotRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, func(c *Config) { c.MFA = authn.Policy{Default: authn.MFARequired, Grace: time.Hour} })
		a := f.b.form(passkey.Path+"/end", "passkey", b64(f.device.id))
		all, err := f.store.Factors(context.Background(), f.mina.Sub)
		if must(t, err); a.Code != 400 || len(all.Passkeys) != 1 {
			t.Errorf("removing it = %d, %d left", a.Code, len(all.Passkeys))
		}
	})
}

func TestPasskeyIsAddedByWhoHasJustSignedInAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		b, d := newBrowser(f), newAuthenticator(t)
		if _, a := b.begin(passkey.Path + "/begin"); a.Code != 403 {
			t.Errorf("nobody asks for options: %d, want 403", a.Code)
		}
		b.first()
		o, _ := b.begin(passkey.Path + "/begin")
		text := d.make(o)
		other := newBrowser(f)
		other.first()
		if a := other.form(passkey.Path, "name", "x", "credential", text); a.Code != 400 {
			t.Errorf("what was made in another session = %d, want 400", a.Code)
		}
		for name, change := range map[string]func(d *authenticator){
			"another origin":        func(d *authenticator) { d.origin = "https://evil.example" },
			"another relying party": func(d *authenticator) { d.rp = "evil.example" },
			"not verified":          func(d *authenticator) { d.flags = present },
			"an unknown algorithm":  func(d *authenticator) { d.alg = -65000 },
			"none":                  func(d *authenticator) { d.alg = 0 },
		} {
			d := newAuthenticator(t)
			change(d)
			if a := b.addPasskey(d, name); a.Code != 400 {
				t.Errorf("a passkey with %s = %d, want 400", name, a.Code)
			}
		}
		time.Sleep(11 * time.Minute)
		if a := b.form(passkey.Path, "name", "x", "credential", text); a.Code == 303 {
			t.Errorf("after eleven minutes = %d to %q, want to be asked to sign in", a.Code, a.Header().Get("Location"))
		}
		all, err := f.store.Factors(context.Background(), f.mina.Sub)
		if must(t, err); len(all.Passkeys) != 0 {
			t.Errorf("kept are %+v, want none", all.Passkeys)
		}
	})
}

// The finder of an open browser, in which a password was typed long ago or a minute ago, adds no key of their
// own beside one.
func TestPasskeyIsAddedByProvingAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		time.Sleep(11 * time.Minute)
		if _, a := f.b.begin(passkey.Path + "/begin"); a.Code != 403 {
			t.Errorf("an old session gets options: %d", a.Code)
		}
		b := newBrowser(f.fixture)
		b.first()
		b.secondBy(f.device)
		if a := b.addPasskey(newAuthenticator(t), "second"); a.Code != 303 {
			t.Errorf("who has proved one adds another: %d %s", a.Code, a.Body)
		}
	})
}

func TestPasskeysAreOffWhereBrowsersKnowNone(t *testing.T) {
	for base, want := range map[string]bool{
		"https://id.example.com": true, "http://localhost:8080": true, "http://127.0.0.1:8080": false,
		"https://192.0.2.7": false, "http://id.example.com": false,
	} {
		f := newFixture(t, func(c *Config) { c.BaseURL = base })
		if page := f.do(get("/oauth/signin")); strings.Contains(page.Body.String(), "passkey") != want {
			t.Errorf("at %s passkeys are offered: %v, want %v", base, !want, want)
		}
	}
}
