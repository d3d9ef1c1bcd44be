package oauth_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
)

// key makes an API key of the fixture's user.
func (h *fixture) key(scope string, life time.Duration) (string, apikey.Key) {
	h.Helper()
	text, k, err := apikeys.Make(context.Background(), h.store, h.user.Sub, "nightly build", scope, life)
	if err != nil {
		h.Fatal(err)
	}
	return text, k
}

func TestAPIKeySpeaksForItsUser(t *testing.T) {
	h := newFixture(t)
	text, k := h.key("tools openid profile", time.Hour)
	got, err := h.tokens.Verify(t.Context(), text)
	want := storage.Caller{
		AppID: "apikey", UserID: h.user.Sub, Scope: "openid profile tools", Audience: issuer, TokenID: k.ID,
		GrantedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Verify() = %+v, %v, want %+v", got, err, want)
	}
	if got.Account() != "apikey "+h.user.Sub {
		t.Errorf("its calls are charged to %q", got.Account())
	}
	if _, err := h.tokens.Verify(t.Context(), text, issuer+"/api/mcp", issuer); err != nil {
		t.Errorf("where tokens of the service are accepted too: %v", err)
	}
	if _, err := h.tokens.Verify(t.Context(), text, "https://elsewhere.example"); !errors.Is(err, oauth.ErrInvalidToken) {
		t.Errorf("for another audience: %v, want ErrInvalidToken", err)
	}
	info := h.userInfo(text)
	if info.status != 200 || info.text("sub") != h.user.Sub || info.text("nickname") != "Ada" || info.text("email") != "" {
		t.Errorf("userinfo = %d %v, want the profile and no email", info.status, info.body)
	}
}

// Protocol 2.8: an appkey authenticates an application at /oauth/token and nowhere else.
func TestAppKeyIsNoAPIKey(t *testing.T) {
	h := newFixture(t)
	if info := h.userInfo(h.app.AppKey().Reveal()); info.status != 401 {
		t.Errorf("userinfo with an appkey = %d %v", info.status, info.body)
	}
	text, _ := h.key("tools", time.Hour)
	h.token("grant_type", "client_credentials", "client_secret", text).wants(t, "a key as client_secret", 401, 401,
		"invalid_client")
}

func TestAPIKeyOfAnotherShapeCostsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		text, _ := h.key("tools", time.Hour)
		h.tokens.Verify(t.Context(), text)
		synctest.Wait() // for the note of when it was last used
		for what, bad := range map[string]string{
			"one character is wrong": text[:20] + string('A'+(text[20]-'A'+1)%26) + text[21:],
			"cut off":                text[:40],
			"made up":                "ks_x",
		} {
			calls := h.calls.during(func() {
				if _, err := h.tokens.Verify(t.Context(), bad); !errors.Is(err, oauth.ErrInvalidToken) {
					t.Errorf("%s: Verify() = %v, want ErrInvalidToken", what, err)
				}
				synctest.Wait()
			})
			if len(calls) > 0 {
				t.Errorf("%s: the store was asked: %v", what, calls)
			}
		}
		if _, err := h.tokens.Verify(t.Context(), handle.NewAPIKey()); !errors.Is(err, oauth.ErrInvalidToken) {
			t.Errorf("one that nobody was given: %v", err)
		}
	})
}

func TestKeyInUseCostsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		text, k := h.key("tools", 10*24*time.Hour)
		use := func() {
			t.Helper()
			if _, err := h.tokens.Verify(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		use()
		first := must(h.store.APIKey(t.Context(), k.ID))(t)
		if !first.UsedAt.Equal(time.Now().UTC()) {
			t.Errorf("it was last used at %v, want now", first.UsedAt)
		}
		calls := h.calls.during(func() {
			for range 100 {
				use()
			}
		})
		if len(calls) > 0 {
			t.Errorf("100 requests made the calls %v", calls)
		}
		var writes int64
		for range 180 { // three hours
			time.Sleep(time.Minute)
			use()
			if now := must(h.store.APIKey(t.Context(), k.ID))(t); now.Version != first.Version {
				writes++
				first = now
			}
		}
		if writes < 2 || writes > 3 {
			t.Errorf("when it was last used was written %d times in three hours, want once an hour", writes)
		}
	})
}

func TestKeyEndsWhenItMust(t *testing.T) {
	for how, end := range map[string]func(*fixture, string, apikey.Key){
		"it expires": func(_ *fixture, _ string, k apikey.Key) { time.Sleep(time.Until(k.ExpiresAt)) },
		"its user revokes it": func(h *fixture, _ string, k apikey.Key) {
			if err := apikeys.End(h.Context(), h.store, h.tokens.Revoke, k.ID); err != nil {
				h.Fatal(err)
			}
		},
		"its user signs out everywhere": func(h *fixture, _ string, k apikey.Key) {
			if err := h.tokens.Revoke(h.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: h.user.Sub,
				Before: time.Now().Add(time.Second)}); err != nil {
				h.Fatal(err)
			}
		},
		"its holder ends it": func(h *fixture, text string, _ apikey.Key) {
			if a := h.post("/oauth/revoke", form("client_id", "apikey", "token", text)); a.status != 200 {
				h.Errorf("revoke = %d %v", a.status, a.body)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t)
				text, k := h.key("tools openid", time.Hour)
				if info := h.userInfo(text); info.status != 200 {
					t.Fatalf("userinfo = %d %v", info.status, info.body)
				}
				synctest.Wait()
				end(h, text, k)
				for range 3 {
					if info := h.userInfo(text); info.status != 401 || !strings.Contains(info.header.Get("WWW-Authenticate"),
						"invalid_token") {
						t.Errorf("userinfo = %d %v, want 401 invalid_token", info.status, info.body)
					}
					synctest.Wait()
				}
				time.Sleep(40 * 24 * time.Hour) // whatever is remembered of it has been forgotten
				if _, err := h.store.Sweep(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				if info := h.userInfo(text); info.status != 401 {
					t.Errorf("forty days later it works again: %d", info.status)
				}
			})
		})
	}
}

// A sign-out everywhere is forgotten when tokens of before have expired, and a key of before would
// still be valid.
func TestKeyOfAYearDoesNotComeBackAfterASignOutEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		text, _ := h.key("tools", 365*24*time.Hour)
		if _, err := h.tokens.Verify(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := h.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: h.user.Sub,
			Before: time.Now()}); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			time.Sleep(30 * 24 * time.Hour)
			must(h.store.Sweep(t.Context(), time.Now()))(t)
			restarted := must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: issuer, Store: h.store,
				SweepEvery: -1}))(t)
			if _, err := restarted.Verify(t.Context(), text); !errors.Is(err, oauth.ErrInvalidToken) {
				t.Fatalf("Verify() = %v, want ErrInvalidToken for ever", err)
			}
		}
		later, _ := h.key("tools", time.Hour)
		if _, err := h.tokens.Verify(t.Context(), later); err != nil {
			t.Errorf("one that was made afterwards: %v", err)
		}
	})
}

func TestAPIKeyIsEndedByItsHolderAndByNoApplicationByChance(t *testing.T) {
	h := newFixture(t)
	text, k := h.key("tools", time.Hour)
	a := h.revoke(text)
	a.wants(t, "revoke by an application", 400, 400, "unauthorized_client")
	if !strings.Contains(a.text("msg"), "client_id=apikey") {
		t.Errorf("it does not say what to do: %v", a.body)
	}
	if _, err := h.tokens.Verify(t.Context(), text); err != nil {
		t.Errorf("it has ended: %v", err)
	}
	for what, token := range map[string]string{"one that nobody was given": handle.NewAPIKey(),
		"one with a wrong checksum": text + "x"} {
		if a := h.post("/oauth/revoke", form("client_id", "apikey", "token", token)); a.status != 200 {
			t.Errorf("revoke of %s = %d %v, want 200 (RFC 7009 2.2)", what, a.status, a.body)
		}
	}
	access := h.exchange(h.code()).tokens(t).text("access_token")
	h.post("/oauth/revoke", form("client_id", "apikey", "token", access)).wants(t, "revoke of an access token as apikey",
		400, 400, "unauthorized_client")
	if a := h.post("/oauth/revoke", form("client_id", "apikey", "token", text)); a.status != 200 {
		t.Errorf("revoke by its holder = %d %v", a.status, a.body)
	}
	if _, err := h.store.APIKey(t.Context(), k.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it is still in the store: %v", err)
	}
}

func TestAuthorizeRefusesTheApplicationsThatAreBuiltIn(t *testing.T) {
	h := newFixture(t)
	for _, id := range []string{storage.KeysAppID, storage.ConsoleAppID} {
		if w := h.authorize("client_id", id, "code_challenge", challengeOf(verifier), "code_challenge_method",
			"S256"); w.Code != 400 || w.Header().Get("Location") != "" {
			t.Errorf("authorize = %d %s", w.Code, w.Header().Get("Location"))
		}
		for _, grant := range []string{"authorization_code", "client_credentials", "refresh_token"} {
			h.post("/oauth/token", form("grant_type", grant, "client_id", id, "code", "x", "refresh_token", "rt_x")).
				wants(t, grant+" of "+id, 401, 401, "invalid_client")
		}
	}
}

// A process that is not told of revocations refuses keys as it refuses tokens: see the nodes below. Here
// the store is away.
func TestKeyThatCannotBeLookedUpIsNoVerdict(t *testing.T) {
	h := newFixture(t)
	text, _ := h.key("tools openid", time.Hour)
	known, _ := h.key("tools openid", time.Hour)
	if info := h.userInfo(known); info.status != 200 {
		t.Fatal(info.status)
	}
	h.calls.mu.Lock()
	h.calls.fault = func() error { return errors.New("the disk is gone") }
	h.calls.mu.Unlock()
	if _, err := h.tokens.Verify(t.Context(), text); errors.Is(err, oauth.ErrInvalidToken) ||
		!errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Verify() = %v, want ErrUnavailable", err)
	}
	if _, err := h.tokens.Verify(t.Context(), known); err != nil {
		t.Errorf("one that is known: %v", err)
	}
}

func TestAPIKeyInManyRequestsAtOnceIsOneCaller(t *testing.T) {
	h := newFixture(t)
	text, _ := h.key("tools openid", time.Hour)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := h.tokens.Verify(context.Background(), text); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := h.tokens.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func BenchmarkVerifyKey(b *testing.B) {
	h := newFixture(b)
	text, _ := h.key("tools openid", 24*time.Hour)
	access := h.exchange(h.code()).tokens(b).text("access_token")
	for name, bearer := range map[string]string{"key": text, "JWT": access} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.tokens.Verify(b.Context(), bearer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("unknown key", func(b *testing.B) {
		unknown := handle.NewAPIKey()
		for b.Loop() {
			h.tokens.Verify(b.Context(), unknown)
		}
	})
	b.Run("JWT with a wrong signature", func(b *testing.B) {
		forged := access[:len(access)-8] + "AAAAAAAA"
		for b.Loop() {
			h.tokens.Verify(b.Context(), forged)
		}
	})
}
