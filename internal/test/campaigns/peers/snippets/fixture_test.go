package snippets

import (
	"bytes"
	"encoding/pem"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/storage"
)

const back = "https://app.example.com/callback"

// site is the service by http or by https, on a loopback port.
type site struct {
	*agents.Site
	transport http.RoundTripper
	trusted   string      // a file with the certificate; "" by http
	forged    atomic.Bool // the signature of each id_token is another on the way
}

func start(t *testing.T, scheme string) *site {
	t.Helper()
	server, s := httptest.NewUnstartedServer(nil), &site{transport: http.DefaultTransport}
	s.Site = agents.New(t, scheme+"://"+server.Listener.Addr().String(), func(c *keystile.Config) {
		c.Gateway.PerAddress = 100_000
	})
	server.Config.Handler = s.forge(s.Site)
	t.Cleanup(server.Close)
	if scheme == "http" {
		server.Start()
		return s
	}
	server.StartTLS()
	s.transport = server.Client().Transport
	s.trusted = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.trusted, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

var signature = regexp.MustCompile(`("id_token":"[^".]+\.[^".]+\.)([^"]+)"`)

// forge changes the signature of id_tokens, if it is told to.
func (s *site) forge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.forged.Load() || !strings.HasPrefix(r.URL.Path, "/oauth/token") {
			next.ServeHTTP(w, r)
			return
		}
		real := httptest.NewRecorder()
		next.ServeHTTP(real, r)
		body := signature.ReplaceAllFunc(real.Body.Bytes(), func(found []byte) []byte {
			at := bytes.LastIndexByte(found, '.') + 1
			found[at] = map[bool]byte{true: 'B', false: 'A'}[found[at] == 'A']
			return found
		})
		w.Header().Set("Content-Type", real.Header().Get("Content-Type"))
		w.WriteHeader(real.Code)
		w.Write(body)
	})
}

// browser returns a browser in which Ada has not signed in.
func (s *site) browser() *agents.Person { return agents.NewPersonBy(s.URL, s.transport) }

var printed = regexp.MustCompile(`(?s)<summary>([^<]*)</summary><pre class="snippet"[^>]*>(.*?)</pre>`)

// code returns the snippets that the console shows Ada of an application, by the first word of their titles, with
// the secret where it belongs.
func (s *site) code(t *testing.T, app storage.App) map[string]string {
	t.Helper()
	ada := s.browser()
	asks := url.Values{
		"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {back}, "scope": {"openid profile"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
	}
	if _, err := ada.Visit(s.URL + "/oauth/authorize?" + asks.Encode()); err != nil {
		t.Fatal(err)
	}
	page, err := ada.Read(s.URL + "/console/apps/" + app.ID + "/code")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, found := range printed.FindAllStringSubmatch(page, -1) {
		title, _, _ := strings.Cut(found[1], ":")
		all[title] = strings.ReplaceAll(html.UnescapeString(found[2]), "YOUR_CLIENT_SECRET", app.AppKey().Reveal())
	}
	return all
}

// register makes an application of Ada's.
func (s *site) register(t *testing.T, app storage.App) storage.App {
	t.Helper()
	app.Name, app.Owner, app.Domains, app.RedirectURIs = "Shop", s.Sub, []string{"app.example.com"}, []string{back}
	app, err := s.Store.SaveApp(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	return app
}
