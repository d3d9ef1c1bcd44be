package agents

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/dialogue"
)

const (
	origin = "http://127.0.0.1:24201" // where the recorded clients found the service

	// document is the client_id of those that have a document.
	document = "https://client.example.com/mcp/client.json"
)

// Each agent is let in, request by request as it was recorded: what it sends is not ours to change.
func TestRecordedAgentsAreLetIn(t *testing.T) {
	files, err := filepath.Glob("testdata/dialogues/*.txt")
	if err != nil || len(files) != 9 {
		t.Fatalf("there are dialogues of %d clients, want 9: %v", len(files), err)
	}
	for _, file := range files {
		all, err := dialogue.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			t.Run(d.Title, func(t *testing.T) {
				site := New(t, origin, func(c *keystile.Config) { c.OAuth.Clients.Transport = documents{} })
				d.Play(t, withBrowser(site, Username), origin, values())
			})
		}
	}
}

// values returns the values that dialogues know at their start: code verifiers of the lengths that clients make.
func values() map[string]string {
	v := map[string]string{"origin": origin, "client_id": document}
	for suffix, verifier := range map[string]string{
		"": strings.Repeat("dBjftJeZ4CVP", 4)[:43], "64": strings.Repeat("dBjftJeZ4CVP", 6)[:64],
		"128": strings.Repeat("aZ09-._~", 16),
	} {
		sum := sha256.Sum256([]byte(verifier))
		v["verifier"+suffix], v["challenge"+suffix] = verifier, base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return v
}

// withBrowser serves /test/allow too: a person at a browser, who has opened /oauth/authorize by the request
// before, signs in and allows. The answer says where the browser is sent then.
func withBrowser(site *Site, username string) http.Handler {
	var opened *httptest.ResponseRecorder
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/oauth/authorize":
			opened = httptest.NewRecorder()
			site.ServeHTTP(opened, r)
			maps.Copy(w.Header(), opened.Header())
			w.WriteHeader(opened.Code)
			w.Write(opened.Body.Bytes())
		case "/test/allow":
			person := NewPersonBy(origin, &inProcess{handler: site, opened: opened})
			person.Username = username
			application, err := person.Visit(origin + "/oauth/authorize?" + r.URL.RawQuery)
			if err != nil {
				http.Error(w, err.Error(), http.StatusTeapot)
				return
			}
			w.Header().Set("Location", application)
			w.WriteHeader(http.StatusFound)
		default:
			site.ServeHTTP(w, r)
		}
	})
}

// inProcess is a transport to a handler, for a browser that has opened its first page already.
type inProcess struct {
	handler http.Handler
	opened  *httptest.ResponseRecorder
}

func (p *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := p.opened
	if p.opened = nil; w == nil {
		sent := httptest.NewRequest(r.Method, r.URL.String(), r.Body)
		sent.Header = r.Header
		w = httptest.NewRecorder()
		p.handler.ServeHTTP(w, sent)
	}
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

// documents serves the document of recorded clients, as a transport.
type documents struct{}

func (documents) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.URL.String() != document {
		w.WriteHeader(http.StatusNotFound)
		return w.Result(), nil
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, fmt.Sprintf(`{"client_id":%q,"client_name":"Login test","redirect_uris":[`+
		`"http://127.0.0.1/callback","http://localhost/callback","http://localhost/oauth/callback","http://127.0.0.1/oauth/callback"],`+
		`"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`, document))
	return w.Result(), nil
}

// Ten people behind one address sign in with the same client at the same moment, each with all requests
// that it was recorded with, and nobody meets a limit.
func TestTenPeopleSignInBehindOneAddress(t *testing.T) {
	files, err := filepath.Glob("testdata/dialogues/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no dialogues: %v", err)
	}
	for _, file := range files {
		all, err := dialogue.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			t.Run(d.Title, func(t *testing.T) {
				site := New(t, origin, func(c *keystile.Config) { c.OAuth.Clients.Transport = documents{} })
				for i := range 10 {
					username := fmt.Sprint("person", i)
					site.Join(t, username)
					d.Play(t, withBrowser(site, username), origin, values())
				}
			})
		}
	}
}
