package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	described "github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/memory"
)

func newEngine(t testing.TB) *Engine {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := token.OpenKeys(t.Context(), store, token.EdDSA)
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{
		Issuer: "https://id.example.com", Resources: []string{"https://id.example.com/api/mcp"}, Store: store,
		MayGrant: store.MayGrant, Keys: keys,
		Groups:       func(context.Context, *storage.App, string, string) ([]string, error) { return nil, nil },
		CodeLifetime: time.Minute, AccessLifetime: time.Hour, RefreshLifetime: time.Hour,
	})
}

// claimsOf reads the claims of an access token, without what is drawn for each.
func claimsOf(t testing.TB, access string) map[string]any {
	t.Helper()
	var claims map[string]any
	if access == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(access, ".")[1])
	if err == nil {
		err = json.Unmarshal(raw, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, drawn := range []string{"jti", "gid"} {
		if claims[drawn] == "" {
			t.Fatalf("%s is missing: %v", drawn, claims)
		}
		delete(claims, drawn)
	}
	return claims
}

func anyOf[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// machine draws an application and a request for a token of its own.
func machine(r *rand.Rand) (storage.App, url.Values) {
	app := storage.App{ID: anyOf(r, "1000", "1001"), Public: r.IntN(8) == 0, Disabled: r.IntN(8) == 0}
	if r.IntN(3) == 0 {
		app.Client = &described.Description{Grants: anyOf(r, nil, []string{GrantCode},
			[]string{GrantCode, GrantRefresh, GrantClientCredentials}, []string{GrantClientCredentials})}
	}
	form := url.Values{"grant_type": {GrantClientCredentials}, "client_id": {app.ID}, "client_secret": {"x"}}
	for name, values := range map[string][]string{
		"scope":        {"app", "openid profile", " ", "nothing known", "apps"},
		"audience":     {"https://id.example.com", " ", "a b", "1000"},
		"resource":     {"https://id.example.com", "https://id.example.com/api/mcp", "https://elsewhere.example"},
		"code":         {"x"},
		"redirect_uri": {"https://app.example.com/cb"},
		"state":        {"x"},
		"assertion":    {"x"},
	} {
		if r.IntN(3) == 0 {
			form.Set(name, anyOf(r, values...))
		}
	}
	return app, form
}

func TestApplicationsOwnTokenIsTheOneThatFositeWouldHaveMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, seed := newEngine(t), rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		granted := 0
		for range 3000 {
			app, form := machine(r)
			got, err := e.Token(t.Context(), Request{App: app, Form: form})
			w := &work{app: app, form: form, now: time.Now()}
			var want Granted
			wantErr := e.checkRequest(w)
			if wantErr == nil {
				want, wantErr = e.redeem(t.Context(), w)
			}
			gotClaims, wantClaims := claimsOf(t, got.Access), claimsOf(t, want.Access)
			got.Access, want.Access = "", ""
			if !reflect.DeepEqual(err, wantErr) || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotClaims, wantClaims) {
				t.Fatalf("seed %d: %+v with %v is answered\n%+v %v %v, want\n%+v %v %v", seed, app, form, got, gotClaims, err, want,
					wantClaims, wantErr)
			}
			if err == nil {
				granted++
			}
		}
		if granted == 0 || granted == 3000 {
			t.Errorf("%d of 3000 requests were granted: they try nothing", granted)
		}
	})
}

// A session, a request and a response of fosite would be a quarter as many again.
func TestApplicationsOwnTokenTakesFewAllocations(t *testing.T) {
	e := newEngine(t)
	app := storage.App{ID: "1000"}
	form := url.Values{"grant_type": {GrantClientCredentials}, "client_id": {app.ID}, "client_secret": {"x"}}
	var err error
	n := testing.AllocsPerRun(100, func() { _, err = e.Token(context.Background(), Request{App: app, Form: form}) })
	if err != nil || n > maxMachineAllocs {
		t.Errorf("it takes %v allocations, %v, want at most %d", n, err, maxMachineAllocs)
	}
}

const maxMachineAllocs = 12
