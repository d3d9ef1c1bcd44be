package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/webhooktest"
)

const pets = `{"openapi":"3.0.0","info":{"title":"Pets","version":"1"},"paths":{"/pets/{id}":{"get":{"operationId":"getPet","summary":"One pet",
	"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},{"name":"full","in":"query","schema":{"type":"boolean"}}]}}}}`

// The whole way: a document becomes tools, an agent calls one with the application's token,
// the call is charged and on the trail, and the webhook hears of the registration.
func TestDocumentIsServedAsTools(t *testing.T) {
	t.Parallel()
	asked := make(chan *http.Request, 10)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"asked":%q}`, r.RequestURI)
	}))
	defer upstream.Close()
	told := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := webhooktest.Verify("whsec_c2VjcmV0", r.Header, body); err != nil {
			t.Errorf("the webhook's signature: %v", err)
		}
		told <- string(body)
	}))
	defer hook.Close()

	data := t.TempDir()
	s := start(t, data, "--upstreams-allow-private", "127.0.0.0/8")
	document := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	registered := must(t, "capability", "register", "pets", "--upstream", upstream.URL+"/v1", "--openapi", document,
		"--auth-type", "bearer",
		"--auth-secret", "UPSTREAM-SECRET", "--webhook-url", hook.URL, "--webhook-secret", "whsec_c2VjcmV0", "--data", data)
	if registered["tool_count"] != 1.0 {
		t.Fatalf("registered %v", registered)
	}
	if body := <-told; !strings.Contains(body, `"type":"capability.registered"`) || !strings.Contains(body, `"tool_count":1`) {
		t.Errorf("the webhook is told %s", body)
	}

	record := firstRunOf(t, data)
	token := machineToken(t, s, record.App.ClientID, record.App.ClientSecret)
	if list := speak(t, s, token, "tools/list", ``); !strings.Contains(list, `"name":"pets__getPet"`) || !strings.Contains(list, `"description":"One pet"`) {
		t.Errorf("tools/list = %s", list)
	}
	if said := speak(t, s, token, "tools/call", `{"name":"pets__getPet","arguments":{"id":7,"full":true}}`); !strings.Contains(said, `"structuredContent":{"asked":"/v1/pets/7?full=true"}`) {
		t.Errorf("tools/call = %s", said)
	}
	if r := <-asked; r.Header.Get("Authorization") != "Bearer UPSTREAM-SECRET" ||
		strings.Contains(fmt.Sprint(r.Header), token) {
		t.Errorf("the upstream was sent %v", r.Header)
	}
	if said := speak(t, s, token, "tools/call", `{"name":"pets__getPet","arguments":{"id":"seven"}}`); !strings.Contains(said, `"isError":true`) || len(asked) != 0 {
		t.Errorf("tools/call with bad arguments = %s, and %d calls left", said, len(asked))
	}
	_, quota := get(t, http.DefaultClient, s.base+"/api/v1/quota", "Authorization", "Bearer "+token)
	if !strings.Contains(quota, `"calls_remaining":999`) || !strings.Contains(quota, `"mcp":1`) {
		t.Errorf("quota = %s", quota)
	}
	must(t, "capability", "remove", "pets", "--data", data)
	if list := speak(t, s, token, "tools/list", ``); !strings.Contains(list, `"tools":[]`) {
		t.Errorf("after it was removed: %s", list)
	}
	s.stop()
	code, trail, _ := command(t, "", "audit", "export", "--kind", "tool", "--data", data)
	if code != 0 || strings.Count(trail, `"detail":"pets__getPet"`) != 2 || strings.Contains(trail, "UPSTREAM-SECRET") {
		t.Errorf("the trail has %s", trail)
	}
}

// speak sends one message to the bus.
func speak(t *testing.T, s *service, token, method, params string) string {
	t.Helper()
	if params == "" {
		params = `{}`
	}
	r, err := http.NewRequest("POST", s.base+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, body := do(t, http.DefaultClient, r)
	if resp.StatusCode != 200 || !json.Valid([]byte(body)) {
		t.Fatalf("%s = %d %s", method, resp.StatusCode, body)
	}
	return body
}
