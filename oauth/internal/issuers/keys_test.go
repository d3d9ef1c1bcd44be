package issuers

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/trust"
)

const (
	one = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
	two = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"2","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
)

// issuer is a server whose answers a test sets by path.
type issuer struct {
	*httptest.Server
	answers sync.Map
	reads   atomic.Int32
}

func newIssuer(t *testing.T) (*issuer, trust.Issuer) {
	i := &issuer{}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.reads.Add(1)
		text, there := i.answers.Load(r.URL.Path)
		if !there {
			http.NotFound(w, r)
			return
		}
		if to, moved := strings.CutPrefix(text.(string), "to "); moved {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/jwk-set+json")
		w.Write([]byte(text.(string)))
	}))
	t.Cleanup(i.Close)
	i.answers.Store("/keys", one)
	i.answers.Store("/.well-known/openid-configuration", says(i.URL, i.URL+"/keys"))
	return i, trust.Issuer{Issuer: i.URL, Use: trust.IDJAG, AllowPrivate: []string{"127.0.0.0/8"}}
}

// says is a discovery document.
func says(issuer, keys string) string { return `{"issuer":"` + issuer + `","jwks_uri":"` + keys + `"}` }

func newKeys() *Keys { return New(slog.New(slog.DiscardHandler)) }

// later has some time pass for an issuer.
func (k *Keys) later(t *testing.T, i trust.Issuer, by time.Duration) {
	t.Helper()
	e, there := k.known.Get(nameOf(i))
	if !there {
		t.Fatal("nothing is known of the issuer")
	}
	e.tried = e.tried.Add(-by)
	if !e.read.IsZero() {
		e.read = e.read.Add(-by)
	}
}

func TestKeysAreReadOnceAndAgainWhenTheyAreDue(t *testing.T) {
	server, i := newIssuer(t)
	keys := newKeys()
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := keys.Of(t.Context(), i, false); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	keys.Of(t.Context(), i, true) // a moment later
	if n := server.reads.Load(); n != 2 {
		t.Errorf("20 requests read %d documents, want the discovery and the keys", n)
	}
	server.answers.Store("/keys", two)
	keys.later(t, i, pause)
	first, _ := keys.Of(t.Context(), i, false)
	second, _ := keys.Of(t.Context(), i, true)
	if first.Has("2") || !second.Has("2") || second.Has("1") {
		t.Error("a new key is not read where it is needed, or one that has gone stays")
	}
	keys.later(t, i, fresh+time.Second)
	server.answers.Store("/keys", one)
	if third, _ := keys.Of(t.Context(), i, false); third.Has("2") {
		t.Error("after an hour nothing is read")
	}
}

func TestKnownKeysGoOnForADayWhileTheIssuerIsAwayOrLies(t *testing.T) {
	server, i := newIssuer(t)
	keys := newKeys()
	keys.Of(t.Context(), i, false)
	for what, lie := range map[string][2]string{
		"a set without keys":      {"/keys", `{"keys":[]}`},
		"keys that sign nothing":  {"/keys", `{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`},
		"a private key":           {"/keys", strings.Replace(one, `"}`, `","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}`, 1)},
		"no JSON":                 {"/keys", `<html>`},
		"more than 64 KiB":        {"/keys", `{"keys":[],"x":"` + strings.Repeat("x", maxDocument) + `"}`},
		"a redirect":              {"/keys", "to /.well-known/openid-configuration"},
		"another issuer":          {"/.well-known/openid-configuration", says("https://evil.example", server.URL+"/keys")},
		"an issuer with a slash":  {"/.well-known/openid-configuration", says(server.URL+"/", server.URL+"/keys")},
		"no jwks_uri":             {"/.well-known/openid-configuration", `{"issuer":"` + server.URL + `"}`},
		"keys of another machine": {"/.well-known/openid-configuration", says(server.URL, "http://169.254.169.254/latest")},
		"keys in a file":          {"/.well-known/openid-configuration", says(server.URL, "file:///etc/passwd")},
	} {
		was, _ := server.answers.Load(lie[0])
		server.answers.Store(lie[0], lie[1])
		keys.later(t, i, pause)
		if set, err := keys.Of(t.Context(), i, true); err != nil || !set.Has("1") {
			t.Errorf("after %s: %v", what, err)
		}
		if _, err := newKeys().Of(t.Context(), i, false); !errors.Is(err, ErrAway) {
			t.Errorf("at first %s: %v, want ErrAway", what, err)
		}
		server.answers.Store(lie[0], was)
	}
	server.Close()
	keys.later(t, i, kept)
	if _, err := keys.Of(t.Context(), i, false); !errors.Is(err, ErrAway) {
		t.Errorf("after a day: %v, want ErrAway", err)
	}
}

func TestPrivateAddressesAreReadOnlyWhereTheyAreAllowed(t *testing.T) {
	server, i := newIssuer(t)
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for what, allow := range map[string][]string{"nothing": nil, "another network": {"10.0.0.0/8"},
		"another port": {"127.0.0.1:1"}} {
		i.AllowPrivate = allow
		for _, address := range []string{"", server.URL + "/keys", named + "/keys"} {
			i.JWKSURI = address
			if _, err := newKeys().Of(t.Context(), i, false); !errors.Is(err, ErrAway) {
				t.Errorf("with %s allowed %q is read: %v", what, address, err)
			}
		}
	}
	if n := server.reads.Load(); n > 0 {
		t.Errorf("%d requests came", n)
	}
}
