package agents

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
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
				d.Play(t, withBrowser(site), origin, values())
			})
		}
	}
}

// values is what dialogues know at their start: code verifiers of the lengths that clients make.
func values() map[string]string {
	v := map[string]string{"origin": origin, "client_id": document}
	for suffix, verifier := range map[string]string{
		"": strings.Repeat("dBjftJeZ4CVP", 4)[:43], "64": strings.Repeat("dBjftJeZ4CVP", 6)[:64], "128": strings.Repeat("aZ09-._~", 16),
	} {
		sum := sha256.Sum256([]byte(verifier))
		v["verifier"+suffix], v["challenge"+suffix] = verifier, base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return v
}

// withBrowser serves /test/allow too: a person at a browser opens /oauth/authorize with the same query,
// signs in and allows. The answer says where the browser is sent then.
func withBrowser(site *Site) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/test/allow" {
			site.ServeHTTP(w, r)
			return
		}
		application, err := newPerson(origin, inProcess{site}).Visit(origin + "/oauth/authorize?" + r.URL.RawQuery)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		w.Header().Set("Location", application)
		w.WriteHeader(http.StatusFound)
	})
}

// inProcess is a transport to a handler.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := httptest.NewRequest(r.Method, r.URL.String(), r.Body)
	sent.Header = r.Header
	w := httptest.NewRecorder()
	p.ServeHTTP(w, sent)
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
