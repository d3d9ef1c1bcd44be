package agents

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

// The user who signs in.
const (
	Username = "ada"
	Password = "correct horse battery"
	Email    = "ada@example.com"
)

// Site is a service, wired as the library wires it, on a loopback port of its own. It has the tools
// up__status and up__order, the first of which changes nothing, and a user.
type Site struct {
	*keystile.Service
	URL string // its origin
	Sub string // of the user

	Certificate *x509.Certificate // of a Site of StartTLS, for clients that are to trust it

	people *users.StoreUsers
	client *http.Client // trusts it
}

// Start starts a Site, which ends with the test.
func Start(t testing.TB, edits ...func(*keystile.Config)) *Site {
	t.Helper()
	return start(t, "http://", (*httptest.Server).Start, edits...)
}

// StartTLS is Start by https.
func StartTLS(t testing.TB, edits ...func(*keystile.Config)) *Site {
	t.Helper()
	return start(t, "https://", (*httptest.Server).StartTLS, edits...)
}

func start(t testing.TB, scheme string, begin func(*httptest.Server), edits ...func(*keystile.Config)) *Site {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	s := New(t, scheme+server.Listener.Addr().String(), edits...)
	server.Config.Handler = s
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // browsers hang up in the middle of a handshake
	begin(server)
	s.Certificate, s.client = server.Certificate(), server.Client()
	t.Cleanup(func() {
		s.Bus.Close(context.Background()) // before the server, which waits for streams
		server.Close()
	})
	return s
}

// Client returns an HTTP client that trusts the Site's certificate, for clients in Go.
func (s *Site) Client() *http.Client { return s.client }

// Person returns somebody at a browser of their own, which trusts the Site.
func (s *Site) Person() *Person { return NewPersonBy(s.URL, s.client.Transport) }

// CertificateFile returns a file of the certificate, as clients of other languages read it.
func (s *Site) CertificateFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate.Raw})
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// App registers an application as the command does: what is not said has its default.
func (s *Site) App(t testing.TB, app storage.App) storage.App {
	t.Helper()
	app.Name = "Peer"
	app, err := s.Store.SaveApp(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// New makes a Site with an origin, for tests that serve it themselves.
func New(t testing.TB, origin string, edits ...func(*keystile.Config)) *Site {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	people := users.New(store, passwords.New(passwords.Cost{Memory: 64, Passes: 1}))
	ada, err := people.Create(t.Context(), storage.User{Username: Username, Nickname: "Ada", Email: Email,
		EmailVerified: true}, Password)
	if err != nil {
		t.Fatal(err)
	}
	c := keystile.Config{BaseURL: origin, Store: store, Users: people.Host(), Log: slog.New(slog.DiscardHandler)}
	c.Tokens.SweepEvery = -1
	up := httptest.NewServer(http.HandlerFunc(status))
	t.Cleanup(up.Close)
	c.AllowPrivateUpstreams = []string{up.Listener.Addr().String()}
	for _, edit := range edits {
		edit(&c)
	}
	service, err := keystile.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s := &Site{Service: service, URL: origin, Sub: ada.Sub, people: people}
	s.register(t, up.URL)
	return s
}

// Join makes one more user, with the same password.
func (s *Site) Join(t testing.TB, username string) {
	t.Helper()
	if _, err := s.people.Create(t.Context(), storage.User{Username: username, Nickname: "Ada"}, Password); err != nil {
		t.Fatal(err)
	}
}

func (s *Site) register(t testing.TB, upstream string) {
	t.Helper()
	schema := json.RawMessage(`{"type":"object","properties":{"code":{"type":"integer"}}}`)
	tools := []toolplan.Tool{
		{Name: "status", Method: "get", Path: "/status", Description: "What a status code means", InputSchema: schema,
			Call: &toolplan.Call{Template: "/status", Params: []toolplan.Param{{Arg: "code", Name: "code", In: "query"}}}},
		{Name: "order", Method: "post", Path: "/order", Description: "Orders a status code", InputSchema: schema,
			Call: &toolplan.Call{Template: "/order", Params: []toolplan.Param{{Arg: "code", Name: "code", In: "query"}}}},
	}
	c := storage.Capability{Member: "up", Kind: storage.CapabilityREST, UpstreamURL: upstream, Publish: true, Owner: s.Sub}
	if _, err := s.Store.SaveCapability(t.Context(), c, tools); err != nil {
		t.Fatal(err)
	}
	if err := s.Bus.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// status is the API behind the tools.
func status(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"path":%q,"code":%q}`, r.URL.Path, r.URL.Query().Get("code"))
}
