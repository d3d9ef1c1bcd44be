package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/registry/lint"
	"github.com/keystile/keystile/registry/openapi"
)

// Decision 51. Each room holds its own part against its routes and answers.
func TestDocumentHasTheProgramsOwnPathsAndNothingElse(t *testing.T) {
	openapitest.New(t, rootAPI).Routes(t, rootHandler{base: apidoc.Example, document: apidoc.Of(rootAPI)}.routes())
}

// Each path of the program is described, or is here with the reason why it is not.
func TestDocumentHasEveryEndpoint(t *testing.T) {
	leftOut := map[string]string{
		"/oauth/signin":  "pages for people, their forms and their script",
		"/oauth/account": "a page for people, and its forms",
		"/oauth/device":  "a page for people, and its form",
		"/console":       "pages for people, their forms and their script",
		"/demo":          "pages that show how it works",
	}
	b := built(t, "KEYSTILE_GATEWAY_PRODUCTS=ai=http://127.0.0.1:1")
	document := openapitest.New(t, openAPI(b.Service)...)
	met := map[string]bool{}
	for _, path := range b.Patterns() {
		path = strings.TrimSuffix(path, "{$}") // the root alone
		reason := ""
		for beginning := range leftOut {
			if path == beginning || strings.HasPrefix(path, beginning+"/") {
				reason, met[beginning] = beginning, true
			}
		}
		if document.Describes(path) == (reason != "") {
			t.Errorf("%s: described, or left out for a reason? Choose one", path)
		}
	}
	if len(met) != len(leftOut) {
		t.Errorf("of what is left out, only %v is there", met)
	}
	for _, p := range b.behind { // what is there describes itself
		if document.Describes(p.prefix) {
			t.Errorf("%s is a product's, and described here", p.prefix)
		}
	}
}

// built returns the whole service, with nobody in it.
func built(t *testing.T, env ...string) *assembled {
	t.Helper()
	c, err := config.Load(cli.Args{}, append(env, "KEYSTILE_DATA="+t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := folder.Open(c.Data)
	if err != nil {
		t.Fatal(err)
	}
	home, err := program{storage: Bolt()}.openStore(t.Context(), c, f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := assemble(t.Context(), c, apidoc.Example, home, new(membership), nil, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(context.Background()), home.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestDocumentIsServedToEverybody(t *testing.T) {
	s := start(t, t.TempDir())
	resp, body := get(t, http.DefaultClient, s.base+"/openapi.json", "Origin", "https://docs.example.com")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/json" ||
		resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("GET /openapi.json = %d %v", resp.StatusCode, resp.Header)
	}
	if again, _ := get(t, http.DefaultClient, s.base+"/openapi.json", "If-None-Match",
		resp.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("with its ETag it is sent again: %d", again.StatusCode)
	}
	var doc struct {
		Servers []struct{ URL string }
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil || len(doc.Servers) != 1 || doc.Servers[0].URL != s.base ||
		strings.Contains(body, apidoc.Example) {
		t.Errorf("its server is %v, want %s: %v", doc.Servers, s.base, err)
	}
	if advice := lint.Check(t.Context(), []byte(body)); len(advice) != 0 {
		t.Errorf("it is not strictly OpenAPI: %q", advice)
	}
	tools, err := openapi.Parse(t.Context(), []byte(body), openapi.Options{Member: "keystile"})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range tools.Skipped {
		if !piece.Usual { // else it is what most documents have and calls do without
			t.Errorf("the registrar leaves out %s: %s", piece.Pointer, piece.Reason)
		}
	}
	if _, index := get(t, http.DefaultClient, s.base+"/"); !strings.Contains(index, `"openapi":"`+s.base+`/openapi.json"`) {
		t.Errorf("the landing page does not link it: %s", index)
	}
}

// A client of the whole program, behind all rooms that stand before the one that answers, meets
// what the document says, also if it has asked too often.
func TestRunningProgramIsAsItsDocumentSays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for limit, tier := range map[string]string{"100000": "enterprise", "1": "free"} {
		t.Run(tier, func(t *testing.T) {
			data := t.TempDir()
			s := start(t, data, "--limits-per-ip", limit)
			app := must(t, "app", "create", "--data", data, "--name", "Client", "--domain", "localhost", "--tier", tier)
			id, secret := app["client_id"].(string), app["client_secret"].(string)
			token := machineToken(t, s, id, secret)
			_, document := get(t, http.DefaultClient, s.base+"/openapi.json", "Authorization", "Bearer "+token)
			client := &http.Client{
				Transport:     openapitest.Of(t, []byte(document)).Transport(t, http.DefaultTransport),
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
			for _, path := range pathsOf(t, document) {
				askEveryWay(t, client, s.base+path, token)
			}
			form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
			if resp, err := client.PostForm(s.base+"/oauth/token", form); err != nil ||
				resp.StatusCode != map[string]int{"enterprise": 200, "free": 429}[tier] {
				t.Errorf("a token = %v, %v", resp, err)
			}
		})
	}
}

func pathsOf(t *testing.T, document string) (all []string) {
	t.Helper()
	var doc struct{ Paths map[string]any }
	if err := json.Unmarshal([]byte(document), &doc); err != nil || len(doc.Paths) < 20 {
		t.Fatalf("%d paths are described: %v", len(doc.Paths), err)
	}
	for path := range doc.Paths {
		all = append(all, strings.NewReplacer("{", "", "}", "").Replace(path))
	}
	return all
}

// askEveryWay sends what is mostly wrong, as clients do by mistake.
func askEveryWay(t *testing.T, client *http.Client, address, token string) {
	t.Helper()
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		for _, header := range []http.Header{
			{}, {"Accept": {"text/html"}}, {"Sec-Fetch-Mode": {"navigate"}}, {"Cookie": {"open_sso_token=nobody"}},
			{"Authorization": {"Bearer " + token}}, {"Authorization": {"Bearer nothing"}},
			{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}},
			{"Content-Type": {"application/x-www-form-urlencoded"}},
		} {
			r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = header
			do(t, client, r)
		}
	}
}

// The service's own document becomes tools, but for the bus: no call comes back to where it
// came from.
func TestServiceOnItsOwnBus(t *testing.T) {
	data := t.TempDir()
	s := start(t, data, "--upstreams-allow-private", "127.0.0.1")
	app := firstRunOf(t, data).App
	token := machineToken(t, s, app.ClientID, app.ClientSecret)
	_, document := get(t, http.DefaultClient, s.base+"/openapi.json")
	file := filepath.Join(t.TempDir(), "self.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	registered := must(t, "capability", "register", "self", "--upstream", s.base, "--openapi", file, "--auth-type",
		"bearer", "--auth-secret", token, "--data", data)
	var skipped []any // but for what documents have everywhere, such as headers that are set for each call
	for _, one := range registered["skipped"].([]any) {
		if one.(map[string]any)["usual"] != true {
			skipped = append(skipped, one)
		}
	}
	n, _ := registered["tool_count"].(float64)
	own := strings.Count(fmt.Sprint(skipped), "map[pointer:/paths/~1api~1mcp")
	if n < 30 || own != 2 || len(skipped) != 2 {
		t.Errorf("%v tools are made, and these pieces left out: %v", n, skipped)
	}
	const quota = `{"name":"self__get_quota","arguments":{}}`
	for before := range 2 { // calls of the product mcp that the quota shows; its own is charged afterwards
		answer := speak(t, s, token, "tools/call", quota)
		if want := fmt.Sprintf(`\"mcp\":%d`, before); !strings.Contains(strings.ReplaceAll(answer, `\\\"`, `\"`), want) || strings.Contains(answer, `"isError"`) {
			t.Errorf("tools/call %s = %s, want %s", quota, answer, want)
		}
	}
}
