package demo

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func TestDemoMaySendPeopleToBaseWhateverItIs(t *testing.T) {
	for _, c := range []struct {
		base    string
		domains []string
		http    bool
	}{
		{"http://127.0.0.1:8080", []string{"localhost", "127.0.0.1"}, false},
		{"http://localhost:1", []string{"localhost", "127.0.0.1"}, false},
		{"https://id.example.com", []string{"localhost", "127.0.0.1", "id.example.com"}, false},
		{"https://id.example.com:8443", []string{"localhost", "127.0.0.1", "id.example.com"}, false},
		{"http://192.168.1.5:8080", []string{"localhost", "127.0.0.1", "192.168.1.5"}, true},
		{"http://[::1]:8080", []string{"localhost", "127.0.0.1", "[::1]"}, false},
	} {
		app, err := Register(t.Context(), newStore(t), c.base, storage.App{})
		if err != nil || !slices.Equal(app.Domains, c.domains) || app.AllowHTTPRedirect != c.http {
			t.Errorf("Register(%s) = %v, http %t, %v", c.base, app.Domains, app.AllowHTTPRedirect, err)
		}
		if err := app.AllowsRedirect(RedirectURI(c.base)); err != nil {
			t.Errorf("%s: %v", c.base, err)
		}
	}
}

func TestDemoFollowsTheBaseURL(t *testing.T) {
	store := newStore(t)
	first, err := Register(t.Context(), store, "http://127.0.0.1:8080", storage.App{})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := Register(t.Context(), store, "https://id.example.com", storage.App{})
	if err != nil || moved.ID != first.ID || moved.AllowsRedirect("https://id.example.com/demo/callback") != nil {
		t.Errorf("Register = %+v, %v; want the same application, admitting the new host", moved, err)
	}
	same, err := Register(t.Context(), store, "http://localhost:9", storage.App{})
	if err != nil || same.Version != moved.Version {
		t.Errorf("it was written again though nothing had to change: %v", err)
	}
}

func TestDemoThatWasDeletedStaysDeleted(t *testing.T) {
	store := newStore(t)
	app, err := Register(t.Context(), store, base, storage.App{})
	if err == nil {
		err = store.DeleteApp(t.Context(), app, storage.Quota{})
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := Register(t.Context(), store, base, storage.App{})
	if all, _, _ := store.Apps(t.Context(), "", "", 10); err != nil || again.ID != "" || len(all) != 0 {
		t.Errorf("Register = %+v, %v; applications %v", again, err, all)
	}
}

func TestExactRedirectsOfSomebodyElsesMakingStay(t *testing.T) {
	store := newStore(t)
	app, err := Register(t.Context(), store, base, storage.App{})
	if err != nil {
		t.Fatal(err)
	}
	app.RedirectURIs = []string{base + "/demo/callback"}
	if app, err = store.SaveApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	again, err := Register(t.Context(), store, "https://id.example.com", storage.App{})
	if err != nil || again.Version != app.Version {
		t.Errorf("Register = %+v, %v; want it untouched", again, err)
	}
}

func newStore(t *testing.T) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}
