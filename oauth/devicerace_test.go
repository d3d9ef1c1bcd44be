package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// RFC 8628 5.3, and decision 7 for a replay.
func TestDeviceCodeIsRedeemedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 2)
		begun := d.allowed()
		first := d.poll(d.nodes[0], begun).tokens(t)
		d.poll(d.nodes[1], begun).wants(t, "a retry", 400, 400, "invalid_grant")
		if _, err := d.nodes[0].tokens.Verify(t.Context(), first.text("access_token")); err != nil {
			t.Errorf("a retry ended the grant: %v", err)
		}
		time.Sleep(11 * time.Second)
		d.poll(d.nodes[0], begun).wants(t, "a replay", 400, 400, "invalid_grant")
		if _, err := d.nodes[0].tokens.Verify(t.Context(), first.text("access_token")); err == nil {
			t.Error("a replay leaves the grant: somebody else knows the device_code")
		}
	})
}

func TestDevicePollsAtOnceGetOneAnswer(t *testing.T) {
	for round := range 20 {
		d := newDevices(t, 8)
		begun := d.allowed()
		answers := make([]answer, len(d.nodes))
		var wait sync.WaitGroup
		for i, n := range d.nodes {
			wait.Go(func() { answers[i] = d.poll(n, begun) })
		}
		wait.Wait()
		tokens := 0
		for _, a := range answers {
			switch {
			case a.status == 200:
				tokens++
			case a.text("error") != "invalid_grant":
				t.Errorf("round %d: a loser is answered with %v", round, a.body)
			}
		}
		if tokens != 1 {
			t.Fatalf("round %d: %d answers with tokens, want one", round, tokens)
		}
	}
}

// Of a yes and a no, or of two of them, one counts, and the other is told so.
func TestAnswersAtOnceAreOne(t *testing.T) {
	for round := range 20 {
		d := newDevices(t, 2)
		begun := d.begin()
		buttons := []string{"allow", "deny", "allow", "deny"}
		people := make([]*person, len(buttons))
		asked := make([]page, len(buttons))
		for i := range buttons {
			people[i] = d.person().signedIn()
			people[i].node = d.nodes[i/2]
			asked[i] = people[i].typeCode(begun.text("user_code"))
		}
		shown := make([]page, len(buttons))
		var wait sync.WaitGroup
		for i, p := range people {
			wait.Go(func() { shown[i] = p.answer(asked[i], buttons[i]) })
		}
		wait.Wait()
		won := ""
		for i, a := range shown {
			switch {
			case a.status == 200 && won == "":
				won = buttons[i]
			case a.status == 200:
				t.Fatalf("round %d: a second answer is taken", round)
			default:
				a.has(t, "a late answer", "This request has been answered already")
			}
		}
		a := d.poll(d.nodes[0], begun)
		if won == "allow" && a.status != 200 || won == "deny" && a.text("error") != "access_denied" || won == "" {
			t.Errorf("round %d: %q was taken, and the device is answered with %v", round, won, a.body)
		}
	}
}

func TestAnswerIsGivenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		asked := p.typeCode(begun.text("user_code"))
		p.answer(asked, "allow")
		for _, button := range []string{"allow", "deny"} {
			p.answer(asked, button).has(t, button+" once more", "This request has been answered already")
		}
		p.typeCode(begun.text("user_code")).has(t, "the code once more", "This request has been answered already")
		d.poll(d.nodes[0], begun).tokens(t)
		if n := len(d.documents("consent")); n != 1 {
			t.Errorf("%d consents, want one", n)
		}
	})
}

var errKilled = errors.Join(storage.ErrUnavailable, errors.New("killed"))

// A process may be killed at each call of the store. An answer stays; a request without one can be
// made again, and none is answered twice.
func TestProcessThatIsKilledLeavesADeviceThatCanGoOn(t *testing.T) {
	calls := map[string]int{}
	for _, step := range []string{"begin", "type", "allow", "poll"} {
		for at := 1; ; at++ {
			killed := false
			t.Run(fmt.Sprint(step, " ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDevices(t, 1)
					n := 0
					during := func(name string, act func()) {
						if name == step {
							d.calls.fault = func() error {
								if n++; n >= at {
									killed = true
									return errKilled
								}
								return nil
							}
						}
						act()
						d.calls.fault = nil
						if name == step && killed {
							d.start()
							d.nodes = d.nodes[len(d.nodes)-1:]
						}
					}
					p := d.person().signedIn()
					var begun, tokens answer
					var asked, done page
					during("begin", func() { begun = d.begin() })
					if killed {
						if begun.status == 200 {
							t.Fatal("what was not stored is answered")
						}
						begun = d.begin()
					}
					p.node = d.nodes[0]
					during("type", func() { asked = p.typeCode(begun.text("user_code")) })
					if p.node = d.nodes[0]; asked.status != 200 {
						asked = p.typeCode(begun.text("user_code"))
					}
					during("allow", func() { done = p.answer(asked, "allow") })
					if p.node = d.nodes[0]; done.status != 200 {
						again := p.typeCode(begun.text("user_code"))
						if !strings.Contains(again.text, "answered already") { // its last write was
							p.answer(again, "allow").has(t, "the second answer", "Your device is connected")
						}
					}
					during("poll", func() { tokens = d.poll(d.nodes[0], begun) })
					for range 3 {
						time.Sleep(20 * time.Second)
						a := d.poll(d.nodes[0], begun)
						if tokens.status == 200 && a.status == 200 {
							t.Fatal("a device_code is answered twice")
						}
						if a.status == 200 {
							tokens = a
						}
					}
					if tokens.status != 200 {
						t.Errorf("the device never gets its tokens: %v", tokens.body)
					}
				})
			})
			if !killed {
				break
			}
			calls[step] = at
		}
	}
	for step, n := range map[string]int{"begin": 2, "type": 2, "allow": 4, "poll": 3} {
		if calls[step] < n {
			t.Errorf("%s was killed at %d calls, want at least %d: nothing is tested", step, calls[step], n)
		}
	}
	t.Logf("killed at %v calls", calls)
}

// Ending a grant also ends one that waits for its device.
func TestDevicePollGrantsNothingThatHasEnded(t *testing.T) {
	for what, end := range map[string]func(d *devices){
		"the user is disabled": func(d *devices) {
			u := must(d.nodes[0].store.User(d.Context(), d.ada.Sub))(d.TB)
			u.Disabled = true
			must(d.nodes[0].store.SaveUser(d.Context(), u))(d.TB)
		},
		"the application is disabled": func(d *devices) {
			a := must(d.nodes[0].store.App(d.Context(), d.app.ID))(d.TB)
			a.Disabled = true
			d.register(a)
		},
		"the consent is taken back": func(d *devices) {
			d.person().signedIn().submit("/oauth/account/access", url.Values{"app": {d.app.ID}})
		},
		"the user signs out everywhere": func(d *devices) {
			d.person().signedIn().submit("/oauth/account/everywhere", url.Values{"a": {"b"}})
		},
		"the tokens of the application are revoked": func(d *devices) {
			if err := d.nodes[0].tokens.Revoke(d.Context(), driver.Revocation{Kind: driver.RevokeApp, ID: d.app.ID,
				Before: time.Now()}); err != nil {
				d.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDevices(t, 1)
				begun := d.allowed()
				time.Sleep(time.Second)
				end(d)
				time.Sleep(time.Second)
				a := d.poll(d.nodes[0], begun)
				if a.status != 400 || a.text("error") != "invalid_grant" && a.text("error") != "unauthorized_client" ||
					a.text("access_token") != "" {
					t.Errorf("the device is answered with %d %v", a.status, a.body)
				}
			})
		})
	}
}

// Nor is a device answered for an application that has ended while its user was asked.
func TestApplicationThatHasEndedIsNotAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		asked := p.typeCode(begun.text("user_code"))
		a := must(d.nodes[0].store.App(t.Context(), d.app.ID))(t)
		a.Disabled = true
		d.register(a)
		const gone = "may not be used here any more"
		p.answer(asked, "allow").has(t, "the answer", gone)
		p.typeCode(begun.text("user_code")).has(t, "the code", gone)
	})
}

// The consent to an application that nobody registered keeps it, and holds what it then was.
func TestConsentOnADeviceIsThatOfTheAccountPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		tty := d.stranger("https://tty.example.com/client.json", deviceGrant)
		begun := d.begin("client_id", tty.ID, "scope", "openid tools")
		p := d.person().signedIn()
		p.allow(begun)
		c := must(d.nodes[0].store.Consent(t.Context(), tty.ID, d.ada.Sub))(t)
		if c.Scope != "openid tools" || c.Terms != tty.Terms() {
			t.Errorf("the consent is %+v", c)
		}
		kept := must(d.nodes[0].store.App(t.Context(), tty.ID))(t)
		if kept.Client.KeptAt.IsZero() || !kept.Client.ExpiresAt.IsZero() {
			t.Errorf("the application ends all the same: %+v", kept.Client)
		}
		p.open(issuer+"/oauth/account").has(t, "the account page", "tty.example.com")
		d.poll(d.nodes[0], begun, "client_id", tty.ID).tokens(t)
	})
}

// The key by which a device_code is redeemed is known of its ticket alone, and outlives it.
func TestRecordOfADeviceCodeOutlivesItsTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.allowed()
		key := handle.KeyOf(begun.text("device_code"))
		if _, err := d.nodes[0].store.Token(t.Context(), key); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("before the redemption: %v", err)
		}
		d.poll(d.nodes[0], begun).tokens(t)
		r, err := d.nodes[0].store.Token(t.Context(), key)
		if err != nil || r.Kind != driver.KindDevice || r.SpentAt.IsZero() || time.Until(r.ExpiresAt) < 30*time.Minute {
			t.Errorf("the record is %+v, %v", r, err)
		}
	})
}

// RFC 8628 5.1: package device says what this comes to.
func TestUserCodesAreNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		for range 5 {
			if a := p.typeCode("BCDF-GHJK"); a.status != 400 {
				t.Errorf("a wrong code is answered with %d", a.status)
			}
		}
		for _, code := range []string{"BCDF-GHJK", begun.text("user_code")} {
			a := p.typeCode(code).has(t, "one too many", "You have typed too many wrong codes. Wait 10 minutes, then try again.")
			if a.status != 429 || a.header.Get("Retry-After") != "600" || a.fields().Has("ticket") {
				t.Errorf("a code beyond five wrong ones is answered with %d %v", a.status, a.header)
			}
		}
		other := d.person().signedIn() // another browser is no other user
		other.from = "198.51.100.7:443"
		if a := other.typeCode("BCDF-GHJK"); a.status != 429 {
			t.Errorf("the same user elsewhere is answered with %d", a.status)
		}
		time.Sleep(10 * time.Minute)
		begun = d.begin()
		p.allow(begun)
		for range 20 { // right ones and what is none count for nothing
			p.typeCode(begun.text("user_code"))
			p.typeCode("ABCD")
		}
		d.person().signedIn().typeCode(d.begin().text("user_code")).has(t, "a right code",
			"Allow a device to use your account?")
	})
}

func TestCodeThatIsWrongSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		over := d.begin()
		time.Sleep(10 * time.Minute)
		p := d.person().signedIn()
		ended, never := p.typeCode(over.text("user_code")), p.typeCode("BCDF-GHJK")
		if ended.status != never.status || strings.ReplaceAll(ended.text, over.text("user_code"), "BCDF-GHJK") != never.text {
			t.Error("a code that has ended is told from one that never was")
		}
	})
}

// A network that begins many devices waits, and others do not.
func TestFloodOfDevicesHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		refused := 0
		for range 100 {
			if a := d.begin(); a.status == 429 {
				refused++
				if a.header.Get("Retry-After") == "" {
					t.Fatal("the refusal says not how long")
				}
			}
		}
		if refused != 40 {
			t.Errorf("of 100 in a minute %d are refused, want what is beyond 60", refused)
		}
	})
}

// mover notes whom a request is counted for.
type mover struct{ counted *string }

func (m mover) Move(_ context.Context, app storage.App) error {
	*m.counted = app.Name
	return nil
}

func (m mover) MoveTo(_ context.Context, _ bool, keys ...reqctx.Key) error {
	*m.counted, _, _ = strings.Cut(keys[0].Name, " ")
	return nil
}

// Decision 24: many devices may have one address.
func TestPollsCountForTheirDeviceAndNotForTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		shop := d.register(storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
		poll := func(v url.Values) (counted string) {
			r := httptest.NewRequest("POST", issuer+"/oauth/token", strings.NewReader(v.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			r, visit := reqctx.Begin(w, r)
			counted = "address"
			visit.Mover = mover{&counted}
			d.nodes[0].ServeHTTP(w, r)
			return counted
		}
		secret := []string{"client_id", shop.ID, "client_secret", shop.AppKey().Reveal()}
		public, confidential := d.begin(), d.begin(secret...)
		ask := func(begun answer, pairs ...string) url.Values {
			return form(append([]string{"grant_type", deviceGrant, "client_id", d.app.ID, "device_code",
				begun.text("device_code")}, pairs...)...)
		}
		for i := range 60 {
			for _, v := range []url.Values{ask(public), ask(confidential, secret...)} {
				if got := poll(v); got != "device" {
					t.Fatalf("poll %d counts for the %s", i+1, got)
				}
			}
		}
		for what, c := range map[string]struct {
			v    url.Values
			want string
		}{
			"beyond 60 in a minute": {ask(public), "address"}, "beyond, with a secret": {ask(confidential, secret...), "Shop"},
			"of another client": {ask(confidential), "address"}, "an unknown one": {ask(public, "device_code", "x"), "address"},
		} {
			if got := poll(c.v); got != c.want {
				t.Errorf("%s counts for the %s, want the %s", what, got, c.want)
			}
		}
	})
}

// interleaved is a Backend that does something else just before the next ticket is written.
type interleaved struct {
	driver.Backend
	before func()
}

func (b *interleaved) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if before := b.before; before != nil && docs[0].Kind == "ticket" {
		b.before = nil
		before()
	}
	return b.Backend.Put(ctx, docs...)
}

func TestAnswerThatComesJustBeforeAnotherIsTheOne(t *testing.T) {
	for first, want := range map[string]string{"deny": "access_denied", "allow": ""} {
		for _, second := range []string{"allow", "deny"} {
			synctest.Test(t, func(t *testing.T) {
				d := newDevices(t, 1)
				begun := d.begin()
				p := d.person().signedIn()
				asked := p.typeCode(begun.text("user_code"))
				d.calls.Backend = &interleaved{d.calls.Backend, func() {
					if a := p.answer(asked, first); a.status != 200 {
						t.Errorf("the first %s is answered with %d", first, a.status)
					}
				}}
				p.answer(asked, second).has(t, second+" behind "+first, "This request has been answered already")
				if a := d.poll(d.nodes[0], begun); a.text("error") != want {
					t.Errorf("%s, then %s: the device is answered with %v", first, second, a.body)
				}
			})
		}
	}
}
