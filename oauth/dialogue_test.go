package oauth_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/groups"
)

var quiet = slog.New(slog.DiscardHandler)

const password = "correct horse battery"

func TestDialogues(t *testing.T) {
	document := openapitest.New(t, new(oauth.Server).OpenAPI())
	dialogue.Prove(t, issuer, func(t *testing.T, _ string) (http.Handler, map[string]string) {
		h, values := dialogueFixture(t)
		return document.Watch(t, h), values
	})
	document.SawEverything(t)
}

// dialogueFixture is the service that dialogues run against: one first-party application, one of
// somebody else's, and Ada, who is signed in as {{session}}.
func dialogueFixture(t *testing.T) (http.Handler, map[string]string) {
	backends, settle := backend.Nodes(t)
	key, shared := storage.NewMasterKey(), counters.New()
	hasher := passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	var nodes []http.Handler
	var values map[string]string
	for _, b := range backends {
		store := must(storage.Open(t.Context(), b, key))(t)
		tokens := must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: issuer, Store: store, SweepEvery: -1,
			StaleAfter: backend.StaleAfter}))(t)
		t.Cleanup(func() { tokens.Close(context.Background()) })
		signInConfig := signin.Config{BaseURL: issuer, Store: store, Users: users.New(store, hasher).Host(), Log: quiet,
			Revoker: tokens}
		providerConfig := oauth.Config{NoDelivery: true, Tokens: tokens, Log: quiet}
		if len(backends) > 1 {
			signInConfig.Lockout, signInConfig.Delays = shared.Addresses(counters.Lock{}), shared.Accounts()
			signInConfig.Counter, providerConfig.Counter = shared.Counter(), shared.Counter()
		}
		signIn := must(signin.New(t.Context(), signInConfig))(t)
		providerConfig.SignIn, providerConfig.Consent, providerConfig.Devices = signIn, signIn, signIn
		provider := must(oauth.New(t.Context(), providerConfig))(t)
		mux := http.NewServeMux()
		provider.Mount(mux)
		signIn.Mount(mux)
		mux.Handle("/test/", backstage(store))
		if nodes = append(nodes, mux); values == nil {
			values = people(t, store, hasher, signIn)
		}
	}
	return dialogue.Nodes(settle, nodes...), values
}

// people makes what is there before a dialogue begins.
func people(t *testing.T, store *storage.Store, hasher *passwords.Hasher, signIn http.Handler) map[string]string {
	ada := must(users.New(store, hasher).Create(t.Context(), storage.User{
		Username: "ada", Name: "Ada Lovelace", Nickname: "Ada", Picture: "https://img.example.com/ada.png",
		Email: "ada@example.com", EmailVerified: true, Gender: "female", Location: "London",
		Attributes: map[string]string{"dept": "Engines"},
	}, password))(t)
	app := must(store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		FirstParty: true}))(t)
	shop := must(store.SaveApp(t.Context(), storage.App{Name: "Shop", Domains: []string{"shop.example.com"}}))(t)
	wiki := must(store.SaveApp(t.Context(), storage.App{Name: "Wiki", Domains: []string{"wiki.example.com"},
		GroupFilter: []string{"team-*"}, Claims: []claim.Rule{{Claim: "department", From: "attribute:dept"}}}))(t)
	for _, name := range []string{"ops", "team-a", "team-b"} {
		must(store.SaveGroup(t.Context(), groups.Group{Name: name}))(t)
		must(store.AddMember(t.Context(), name, ada.Sub))(t)
	}
	apiKey, _, err := apikeys.Make(t.Context(), store, ada.Sub, "nightly build", "profile tools:shop", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"api_key": apiKey, "origin": issuer, "client_id": app.ID, "client_secret": app.AppKey().Reveal(),
		"password": password, "verifier": verifier, "challenge": challengeOf(verifier),
		"session": signedIn(t, signIn), "ada": ada.Sub, "shop_id": shop.ID, "shop_secret": shop.AppKey().Reveal(),
		"wiki_id": wiki.ID, "wiki_secret": wiki.AppKey().Reveal(),
	}
}

func signedIn(t testing.TB, signIn http.Handler) string {
	t.Helper()
	form := url.Values{"username": {"ada"}, "password": {password}}
	r := httptest.NewRequest("POST", issuer+"/oauth/signin", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	signIn.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if c.Name == "open_sso_token" {
			return c.Value
		}
	}
	t.Fatalf("signing in = %d without a cookie: %s", w.Code, w.Body)
	return ""
}

// backstage serves what dialogues need and no client can do.
func backstage(store *storage.Store) http.Handler {
	return reply.NewMux(quiet, signed(store),
		reply.Route{Path: "/test/jwt", Methods: []string{"GET"}, Handle: func(w http.ResponseWriter, r *http.Request) error {
			text, err := token.Bearer(r)
			parts := strings.Split(text, ".")
			if err != nil || len(parts) != 3 {
				return err
			}
			header, _ := base64.RawURLEncoding.DecodeString(parts[0])
			claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
			return reply.JSON(w, 200, struct {
				Header json.RawMessage `json:"header"`
				Claims json.RawMessage `json:"claims"`
			}{header, claims})
		}},
		reply.Route{Path: "/test/setting", Methods: []string{"POST"},
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				q := r.URL.Query()
				w.WriteHeader(http.StatusNoContent)
				return store.Set(r.Context(), q.Get("name"), q.Get("value"))
			}},
		reply.Route{Path: "/test/leave", Methods: []string{"POST"},
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				_, err := store.RemoveMember(r.Context(), r.URL.Query().Get("group"), r.URL.Query().Get("user"))
				w.WriteHeader(http.StatusNoContent)
				return err
			}},
		reply.Route{Path: "/test/admit", Methods: []string{"POST"},
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				app, err := store.App(r.Context(), r.URL.Query().Get("client_id"))
				if err != nil {
					return err
				}
				app.Admission = &access.Admission{Allow: strings.Fields(r.URL.Query().Get("allow")), Since: time.Now()}
				if _, err = store.SaveApp(r.Context(), app); err == nil {
					w.WriteHeader(http.StatusNoContent)
				}
				return err
			}},
		reply.Route{Path: "/test/hash", Methods: []string{"GET"}, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return reply.JSON(w, 200, map[string]string{"hash": handle.Hash(r.URL.Query().Get("of"))})
		}},
		reply.Route{Path: "/test/panic", Methods: []string{"GET"},
			Handle: func(http.ResponseWriter, *http.Request) error { panic("on purpose") }},
	)
}

// signed is the query of an authorize request as a vendor SDK signs it (protocol 5). Dialogues
// ask for it at /test/signed, with the parameters to be signed.
func signed(store *storage.Store) reply.Route {
	return reply.Route{Path: "/test/signed", Methods: []string{"GET"},
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			q := r.URL.Query()
			app, err := store.App(r.Context(), q.Get("client_id"))
			if err != nil {
				return err
			}
			if ago, err := time.ParseDuration(q.Get("ago")); err == nil {
				q.Del("ago")
				q.Set("timestamp", strconv.FormatInt(time.Now().Add(-ago).Unix(), 10))
			}
			q.Set("sign", md5sign.Of(app, q))
			w.Header().Set("X-Query", q.Encode())
			return nil
		}}
}
