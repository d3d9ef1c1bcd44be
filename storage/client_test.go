package storage_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func agent(id string) storage.App {
	kind := client.Document
	if strings.HasPrefix(id, client.DynamicPrefix) {
		kind = client.Dynamic
	}
	return storage.App{ID: id, Name: "Agent", Public: true, Client: &client.Description{
		Kind: kind, AuthMethod: client.AuthNone, RedirectURIs: []string{"http://localhost/callback"},
		ExpiresAt: time.Now().Add(time.Hour).UTC(),
	}}
}

func emptyStore(t *testing.T) *storage.Store {
	t.Helper()
	b := memory.New()
	s, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return s
}

func TestClientThatRegistersItselfIsOnItsOwnList(t *testing.T) {
	s := emptyStore(t)
	document := agent("https://agent.example/client.json")
	dynamic := agent(handle.NewClientID())
	for _, a := range []storage.App{document, dynamic, {Name: "Ours", Domains: []string{"app.example"}}} {
		if _, err := s.SaveApp(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	clients, _, err := s.Clients(t.Context(), "", 10)
	if err != nil || len(clients) != 2 || clients[0].Client == nil || clients[0].Tier != storage.TierFree {
		t.Errorf("Clients() = %+v, %v", clients, err)
	}
	ours, _, err := s.Apps(t.Context(), "", "", 10)
	if err != nil || len(ours) != 1 || ours[0].Name != "Ours" {
		t.Errorf("Apps() = %+v, %v", ours, err)
	}
	if document.Host() != "agent.example" || dynamic.Host() != "" || ours[0].Host() != "" {
		t.Error("only a document comes from a host")
	}
}

func TestClientShapeBelongsToClientsAlone(t *testing.T) {
	s := emptyStore(t)
	for promise, change := range map[string]func(*storage.App){
		"an owner":    func(a *storage.App) { a.Owner = "u1" },
		"first-party": func(a *storage.App) { a.FirstParty = true },
		"a secret": func(a *storage.App) {
			a.Public, a.Secrets = false, []storage.AppSecret{{Secret: storage.DrawSecret()}}
		},
		"domains":                func(a *storage.App) { a.Domains = []string{"agent.example"} },
		"an id of another kind":  func(a *storage.App) { a.ID = handle.NewClientID() },
		"an ordinary id":         func(a *storage.App) { a.ID = handle.NewAppID() },
		"a URL that is too long": func(a *storage.App) { a.ID += strings.Repeat("x", client.MaxID) },
		"no redirect_uri":        func(a *storage.App) { a.Client.RedirectURIs = nil },
		"a javascript redirect":  func(a *storage.App) { a.Client.RedirectURIs = []string{"javascript:alert(1)"} },
		"a secret to prove":      func(a *storage.App) { a.Client.AuthMethod = "client_secret_post" },
		"a JWT without keys":     func(a *storage.App) { a.Client.AuthMethod = client.AuthPrivateKeyJWT },
		"no Client":              func(a *storage.App) { a.Client = nil },
	} {
		a := agent("https://agent.example/client.json")
		change(&a)
		if _, err := s.SaveApp(t.Context(), a); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: SaveApp() = %v, want ErrInvalid", promise, err)
		}
	}
	for range 1000 {
		if id := handle.NewAppID(); client.IsID(id) {
			t.Fatalf("%s looks like a client's", id)
		}
	}
}

func TestClientEndsUnlessAUserConsents(t *testing.T) {
	s := emptyStore(t)
	kept, left := agent("https://kept.example/client.json"), agent("https://left.example/client.json")
	for _, a := range []storage.App{kept, left} {
		if _, err := s.SaveApp(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.KeepClient(t.Context(), kept.ID); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(2 * time.Hour)
	if _, err := s.Sweep(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	a, err := s.App(t.Context(), kept.ID)
	if err != nil || a.Client.KeptAt.IsZero() || !a.Live(later) {
		t.Errorf("App() = %+v, %v, want it kept", a.Client, err)
	}
	if _, err := s.App(t.Context(), left.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("App() = %v, want what nobody used swept", err)
	}
	if left.Live(later) || !left.Live(time.Now()) {
		t.Error("it lives until its end and no longer")
	}
}

// Decision 55: other redirect_uris, keys or another name take another consent.
func TestTermsChangeWithWhatAUserConsentedTo(t *testing.T) {
	before := agent("https://agent.example/client.json")
	before.Client.RedirectURIs = []string{"http://localhost/a", "http://localhost/b"}
	same := before
	same.Client = &client.Description{Kind: client.Document, AuthMethod: client.AuthNone,
		RedirectURIs: slices.Clone(before.Client.RedirectURIs), FetchedAt: time.Now()}
	slices.Reverse(same.Client.RedirectURIs)
	if before.Terms() != same.Terms() || (storage.App{Name: "Ours"}).Terms() != "" {
		t.Error("the same terms differ")
	}
	for promise, change := range map[string]func(*storage.App){
		"name":         func(a *storage.App) { a.Name = "Other" },
		"redirect_uri": func(a *storage.App) { a.Client.RedirectURIs = a.Client.RedirectURIs[:1] },
		"keys":         func(a *storage.App) { a.Client.Keys = []byte(`{"keys":[]}`) },
		"jwks_uri":     func(a *storage.App) { a.Client.KeysURL = "https://agent.example/jwks" },
	} {
		other := same
		c := *same.Client
		other.Client = &c
		change(&other)
		if other.Terms() == before.Terms() {
			t.Errorf("another %s is the same terms", promise)
		}
	}
}

// Decision 55: the charge goes to the person, not to the vendor of the application.
func TestAccountIsOfTheApplicationOrOfItsUser(t *testing.T) {
	const vendor = "https://claude.example/client.json"
	for want, c := range map[string]storage.Caller{
		"ks1":          {AppID: "ks1", UserID: "u1"},
		vendor + " u1": {AppID: vendor, UserID: "u1"},
		vendor:         {AppID: vendor},
	} {
		if got := c.Account(); got != want {
			t.Errorf("Account() = %q, want %q", got, want)
		}
	}
	long := strings.Repeat("u", driver.MaxName)
	a, b := storage.Caller{AppID: vendor, UserID: long}.Account(),
		storage.Caller{AppID: vendor, UserID: long[1:] + "v"}.Account()
	if len(a) > 230 || a == b || !strings.HasPrefix(a, vendor+" ") {
		t.Errorf("of long subs: %q and %q", a, b)
	}
}
