package command

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// send sends JSON to the service, and returns the answer.
func send(t *testing.T, s *service, method, path, body string, headers ...string) (*http.Response, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	if resp.ContentLength != 0 {
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Fatalf("%s %s = %d: %v", method, path, resp.StatusCode, err)
		}
	}
	return resp, v
}

// asking returns the path at which an agent asks a user to sign in.
func asking(clientID string) string {
	return "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {clientID},
		"redirect_uri": {"http://127.0.0.1:4000/cb"}, "scope": {"tools"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}}.Encode()
}

func TestAgentRegistersItselfAndTheOperatorDecides(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	for _, path := range []string{"/oauth/register", "/register"} {
		resp, _ := send(t, s, http.MethodOptions, path, "", "Origin", "https://inspector.example",
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
		if h := resp.Header; resp.StatusCode != 204 || h.Get("Access-Control-Allow-Origin") != "*" ||
			h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("the preflight of %s = %d %v", path, resp.StatusCode, h)
		}
		if resp, v := send(t, s, http.MethodPost, path, `{"redirect_uris":["http://127.0.0.1:1/cb"]}`, "Origin", "https://inspector.example"); resp.StatusCode != 201 || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("POST %s of another origin = %d %v", path, resp.StatusCode, v)
		}
	}
	_, metadata := send(t, s, http.MethodGet, "/.well-known/oauth-authorization-server", "")
	endpoint, _ := metadata["registration_endpoint"].(string)
	if endpoint != s.base+"/oauth/register" || metadata["client_id_metadata_document_supported"] != true {
		t.Fatalf("the metadata is %v", metadata)
	}
	_, agent := send(t, s, http.MethodPost, strings.TrimPrefix(endpoint, s.base), `{"client_name":"Agent","redirect_uris":["http://127.0.0.1:4000/cb"]}`)
	id, _ := agent["client_id"].(string)
	cookie := cookieOf(t, s).String()
	ask := func(id string, status int, want string) {
		t.Helper()
		if resp, page := get(t, http.DefaultClient, s.base+asking(id), "Cookie", cookie); resp.StatusCode != status ||
			!strings.Contains(page, want) {
			t.Errorf("%s = %d %s, want %d with %q", id, resp.StatusCode, page, status, want)
		}
	}
	ask(id, 200, "Agent")
	must(t, "client", "deny", id, "--data", s.data)
	ask(id, 400, "disabled")
	must(t, "client", "trust", id, "--data", s.data)
	ask(id, 200, "Agent")
	must(t, "client", "deny", "agents.example.com", "--data", s.data)
	ask("https://agents.example.com/client.json", 400, "does not admit")

	resp, _ := send(t, s, http.MethodDelete, strings.TrimPrefix(agent["registration_client_uri"].(string), s.base), "",
		"Authorization", "Bearer "+agent["registration_access_token"].(string))
	if resp.StatusCode != 204 {
		t.Errorf("the removal = %d", resp.StatusCode)
	}
	ask(id, 400, "that has ended")
	s.stop()
	_, trail, _ := command(t, "", "audit", "export", "--data", s.data)
	for _, want := range []string{"client registered itself", "client removed itself",
		"client set " + id + " by command line, ", "client host set agents.example.com by command line, "} {
		if !strings.Contains(trail, want) {
			t.Errorf("the trail does not say %q", want)
		}
	}
	if strings.Contains(trail+s.log.String(), agent["registration_access_token"].(string)) {
		t.Error("the registration access token is on the trail or in the log")
	}
}
