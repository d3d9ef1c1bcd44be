package command

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// wantHealthPage wants texts in what the console says of the service's health, and others nowhere.
func wantHealthPage(t *testing.T, s *service, wanted []string, never ...string) {
	t.Helper()
	cookie := cookieOf(t, s).String()
	_, data := get(t, http.DefaultClient, "http://"+s.address+"/api/console/health", "Cookie", cookie)
	_, page := get(t, http.DefaultClient, "http://"+s.address+"/console/health?lang=en", "Cookie", cookie)
	for _, want := range wanted {
		if !strings.Contains(data+page, want) {
			t.Errorf("the health of the service lacks %q: %s", want, data)
		}
	}
	for _, secret := range never {
		if strings.Contains(data+page, secret) {
			t.Errorf("the health of the service says %q: %s", secret, data)
		}
	}
}

func TestHealthPageSaysWhatAServiceRunsOn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	s := start(t, t.TempDir())
	wantHealthPage(t, s, []string{`"store":{"kind":"bolt","version":"","at":"","bytes":`, "bolt, ", "none: this node counts alone", `"shared":false`}, `"bytes":0}`)
	s.stop()

	store, counters := database.WithSchema(t), redisURL(t)
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(u.User.Username(), "sesame-store")
	r, err := url.Parse(counters)
	if err != nil {
		t.Fatal(err)
	}
	s = start(t, t.TempDir(), "--storage-url", u.String(), "--redis-url", counters, "--base-url", "http://127.0.0.1")
	wantHealthPage(t, s, []string{`"kind":"PostgreSQL","version":"1`, " at " + u.Host + u.Path, " at " + r.Host + ", reachable", `"reachable":true,"away_since":null`},
		"sesame", u.User.Username()+"@", u.RawQuery, r.RawQuery)
}

func TestHealthPageSaysThatTheServerThatCountsIsAway(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--redis-url", "redis://app:sesame@127.0.0.1:1?prefix=of-our-own")
	wantHealthPage(t, s, []string{"Redis at 127.0.0.1:1, not reachable: each node keeps its share of the limits; since <time datetime=\"20", `"well":false`, `"reachable":false,"away_since":"20`}, "sesame", "app:", "of-our-own")
}

func TestAdapterThatSaysNothingOfItselfHasTheNameOfItsStorage(t *testing.T) {
	t.Parallel()
	f, err := folder.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := program{storage: Backend("mine", func(dir string) (driver.Backend, error) {
		b, err := bolt.Open(filepath.Join(dir, "mine.db"), bolt.Options{})
		return struct{ driver.Backend }{b}, err
	})}
	h, err := p.openStore(t.Context(), &config.Config{}, f)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if kind, version, at, bytes := h.store.Describe(); kind != "mine" || version != "" || at != "" || bytes != 0 {
		t.Errorf("it is %q %q at %q with %d bytes", kind, version, at, bytes)
	}
}
