package oauth_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/statement"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/memory"
)

// signing returns what signs who calls, on a store of its own.
func signing(t testing.TB) (*oauth.Tokens, *storage.Store) {
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store := must(storage.Open(t.Context(), backend, storage.NewMasterKey()))(t)
	tokens := must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: issuer, Store: store, SweepEvery: -1}))(t)
	t.Cleanup(func() { tokens.Close(context.Background()) })
	return tokens, store
}

// A statement that is sent again is good for half a minute more, whoever gets it last.
func TestStatementIsSentAgainForHalfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, store := signing(t)
		caller := storage.Caller{AppID: "app1", UserID: "u1", TokenID: "t1"}
		call := lasthop.Call{Audience: "https://api.example.com", Tool: "shop__get", RequestID: "r1",
			Identity: lasthop.Identity{Kind: lasthop.Signed, JTI: lasthop.Off}}
		sign := func(caller storage.Caller, call lasthop.Call) string {
			return must(tokens.SignCaller(t.Context(), caller, call))(t)
		}
		first := sign(caller, call)
		time.Sleep(30*time.Second - 1)
		call.RequestID = "r2"
		if again := sign(caller, call); again != first {
			t.Error("within half a minute there is another one")
		}
		for name, change := range map[string]func(*storage.Caller, *lasthop.Call){
			"another token":       func(c *storage.Caller, _ *lasthop.Call) { c.TokenID = "t2" },
			"another user":        func(c *storage.Caller, _ *lasthop.Call) { c.UserID = "u2" },
			"another application": func(c *storage.Caller, _ *lasthop.Call) { c.AppID = "app2" },
			"another tool":        func(_ *storage.Caller, c *lasthop.Call) { c.Tool = "shop__put" },
			"another upstream":    func(_ *storage.Caller, c *lasthop.Call) { c.Audience = "https://other.example" },
			"another subject":     func(_ *storage.Caller, c *lasthop.Call) { c.Subject = lasthop.OpenID },
			"a jti":               func(_ *storage.Caller, c *lasthop.Call) { c.JTI = lasthop.On },
		} {
			caller, call := caller, call
			change(&caller, &call)
			if other := sign(caller, call); other == first {
				t.Errorf("%s: it is the same", name)
			}
		}
		if err := tokens.ReloadKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first == sign(caller, call) {
			t.Error("once the keys have changed it is sent again")
		}
		time.Sleep(time.Nanosecond)
		if again := sign(caller, call); again == first {
			t.Error("after half a minute it is sent again")
		}
		keys := token.NewPublished(issuer, 1)
		if err := keys.SetKeys(must(token.OpenKeys(t.Context(), store))(t).JWKS().Body()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30*time.Second - 1)
		if _, err := statement.Read(keys, first, issuer, call.Audience); err != nil {
			t.Errorf("sent last, the first is good for no half a minute: %v", err)
		}
	})
}

func BenchmarkSignCaller(b *testing.B) {
	tokens, _ := signing(b)
	caller := storage.Caller{AppID: "app1", UserID: "u1", TokenID: "t1"}
	for _, jti := range []string{lasthop.On, lasthop.Off} {
		call := lasthop.Call{Audience: "https://api.example.com", Tool: "shop__get", RequestID: "r1",
			Identity: lasthop.Identity{Kind: lasthop.Signed, JTI: jti}}
		b.Run("jti "+jti, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tokens.SignCaller(b.Context(), caller, call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
