package oauth_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage/driver"
)

const (
	agent         = "https://agent.example.net/oauth/client.json"
	agentRedirect = "http://127.0.0.1:5000/callback"
)

// documentWith returns the document of the agent with members in place of its own, as they are written.
func documentWith(members ...string) string {
	own := []string{
		`"client_id"`, `"` + agent + `"`, `"client_name"`, `"Agent"`, `"redirect_uris"`, `["http://127.0.0.1/callback"]`,
		`"grant_types"`, `["authorization_code","refresh_token"]`, `"response_types"`, `["code"]`, `"token_endpoint_auth_method"`, `"none"`,
	}
	var text []string
	for i := 0; i < len(own); i += 2 {
		value := own[i+1]
		for j := 0; j < len(members); j += 2 {
			if members[j] == own[i] {
				value = members[j+1]
			}
		}
		if value != "" {
			text = append(text, own[i]+":"+value)
		}
	}
	for j := 0; j < len(members); j += 2 {
		if !strings.Contains(strings.Join(own, " "), members[j]) {
			text = append(text, members[j]+":"+members[j+1])
		}
	}
	return "{" + strings.Join(text, ",") + "}"
}

// hostileIDs are refused as they are: nothing is looked up.
var hostileIDs = []string{
	// another scheme, or no document at all
	"http://agent.example.net/client.json", "HTTPS://agent.example.net/client.json",
	"https:/agent.example.net/client.json",
	"https:agent.example.net/client.json", "https://", "https:///client.json", "https://agent.example.net",
	"https://agent.example.net/",
	"file:///etc/passwd", "javascript:alert(1)", "data:application/json,{}", "ftp://agent.example.net/client.json",
	"gopher://agent.example.net/x", " https://agent.example.net/client.json",
	// addresses, in every spelling
	"https://127.0.0.1/client.json", "https://127.1/client.json", "https://2130706433/client.json",
	"https://0x7f000001/client.json", "https://0x7f.0.0.1/client.json",
	"https://0177.0.0.1/client.json", "https://017700000001/client.json", "https://127.0.0.1./client.json",
	"https://0/client.json", "https://0.0.0.0/client.json",
	"https://10.0.0.1/client.json", "https://172.16.0.1/client.json", "https://192.168.1.1/client.json",
	"https://169.254.169.254/latest/meta-data", "https://100.64.0.1/client.json",
	"https://168.63.129.16/client.json", "https://224.0.0.1/client.json", "https://255.255.255.255/client.json",
	"https://8.8.8.8/client.json", "https://1.2.3/client.json",
	"https://[::1]/client.json", "https://[::]/client.json", "https://[::ffff:127.0.0.1]/client.json",
	"https://[::ffff:7f00:1]/client.json", "https://[fe80::1%25eth0]/client.json",
	"https://[fc00::1]/client.json", "https://[64:ff9b::7f00:1]/client.json", "https://[2002:7f00:1::]/client.json",
	"https://[2606:4700::1111]/client.json", "https://[0:0:0:0:0:0:0:1]/client.json",
	// names inside
	"https://localhost/client.json", "https://localhost:8443/client.json", "https://agent.localhost/client.json",
	"https://intranet/client.json", "https://keystile/client.json", "https://metadata.google.internal/client.json",
	"https://printer.local/client.json", "https://agent.test/client.json", "https://agent.example/client.json",
	"https://agent.invalid/client.json", "https://agent.onion/client.json",
	"https://router.home.arpa/client.json", "https://nas.lan/client.json", "https://vault.corp/client.json",
	"https://agent.example.net./client.json",
	// users, ports, paths
	"https://user@agent.example.net/client.json", "https://user:password@agent.example.net/client.json",
	"https://claude.ai@agent.example.net/client.json", "https://agent.example.net\\@claude.ai/client.json",
	"https://agent.example.net:443/client.json", "https://agent.example.net:0443/client.json",
	"https://agent.example.net:/client.json", "https://agent.example.net:0/client.json",
	"https://agent.example.net:65536/client.json", "https://agent.example.net:+8443/client.json",
	"https://agent.example.net:8443x/client.json", "https://agent.example.net:22:80/client.json",
	"https://agent.example.net/../client.json", "https://agent.example.net/./client.json",
	"https://agent.example.net/a/..", "https://agent.example.net/%2e%2e/client.json",
	"https://agent.example.net/%2E/client.json", "https://agent.example.net/a%2fb", "https://agent.example.net/a%5Cb",
	"https://agent.example.net/a\\b", "https://agent.example.net/a%00b", "https://agent.example.net/a%zz",
	"https://agent.example.net/client.json?x=1", "https://agent.example.net/client.json?",
	"https://agent.example.net/client.json#x", "https://agent.example.net/client.json#", "https://agent.example.net/a=b",
	// letters
	"https://AGENT.example.net/client.json", "https://agent.example.net/cliënt.json", "https://clаude.ai/client.json",
	"https://agent。example。net/client.json", "https://①②⑦.0.0.1/client.json",
	"https://agent.example.net/\u202ecod.json", "https://agent.example.net/a b", "https://agent.example.net/a\tb",
	"https://agent.example.net/a\r\nHost: x", "https://agent_x.example.net/client.json",
	"https://-agent.example.net/client.json", "https://agent..example.net/client.json", "https://.example.net/client.json",
	"https://%61gent.example.net/client.json", "https://agent.example.net%2f.evil.example.org/x",
	"https://agent.example.net/" + strings.Repeat("x", 166), "https://" + strings.Repeat("a", 64) +
		".example.net/client.json",
}

// hostileDocuments are read and refused.
var hostileDocuments = map[string]string{
	"another client_id":              documentWith(`"client_id"`, `"https://claude.ai/oauth/claude-code-client-metadata"`),
	"a client_id that only looks so": documentWith(`"client_id"`, `"https://agent.example.net/oauth/client.json/"`),
	"a client_id in capitals":        documentWith(`"client_id"`, `"https://AGENT.example.net/oauth/client.json"`),
	"no client_id":                   documentWith(`"client_id"`, ``),
	"a client_id that is null":       documentWith(`"client_id"`, `null`),
	"a client_id in an array":        documentWith(`"client_id"`, `["`+agent+`"]`),
	"two client_ids":                 documentWith(`"client_id "`, `1`, `"client_id"`, `"https://evil.example.org/x","client_id":"`+agent+`"`),
	"two client_ids, one escaped":    documentWith(`"client\u005fid"`, `"https://evil.example.org/x"`),
	"two redirect_uris":              documentWith(`"redirect_uris"`, `["https://a.example.org/"],"redirect_uris":["https://b.example.org/"]`),
	"a client_secret":                documentWith(`"client_secret"`, `"s3cret"`),
	"a Client_Secret":                documentWith(`"Client_Secret"`, `"s3cret"`),
	"the end of a client_secret":     documentWith(`"client_secret_expires_at"`, `0`),
	"client_secret_post":             documentWith(`"token_endpoint_auth_method"`, `"client_secret_post"`),
	"client_secret_basic":            documentWith(`"token_endpoint_auth_method"`, `"client_secret_basic"`),
	"client_secret_jwt":              documentWith(`"token_endpoint_auth_method"`, `"client_secret_jwt"`),
	"a certificate":                  documentWith(`"token_endpoint_auth_method"`, `"tls_client_auth"`),
	"a method that is a number":      documentWith(`"token_endpoint_auth_method"`, `1`),
	"private_key_jwt without keys":   documentWith(`"token_endpoint_auth_method"`, `"private_key_jwt"`),
	"only secrets among its methods": documentWith(`"token_endpoint_auth_method"`, `null`, `"token_endpoint_auth_methods_supported"`, `["client_secret_post"]`),
	"jwks and jwks_uri":              documentWith(`"jwks"`, publicKeys, `"jwks_uri"`, `"https://agent.example.net/keys"`),
	"a private RSA key":              documentWith(`"jwks"`, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQAB"}]}`),
	"a private EC key":               documentWith(`"jwks"`, `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"AA"}]}`),
	"a symmetric key":                documentWith(`"jwks"`, `{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`),
	"a key of no kind":               documentWith(`"jwks"`, `{"keys":[{}]}`),
	"keys that are no object":        documentWith(`"jwks"`, `{"keys":["x"]}`),
	"keys that are text":             documentWith(`"jwks"`, `"x"`),
	"no keys":                        documentWith(`"jwks"`, `{"keys":[]}`),
	"a jwks_uri inside":              documentWith(`"jwks_uri"`, `"https://169.254.169.254/keys"`),
	"a jwks_uri without TLS":         documentWith(`"jwks_uri"`, `"http://agent.example.net/keys"`),
	"a jwks_uri of an application":   documentWith(`"jwks_uri"`, `"agent://agent.example.net/keys"`),
	"a jwks_uri in a file":           documentWith(`"jwks_uri"`, `"file:///etc/passwd"`),
	"a jwks_uri with a user":         documentWith(`"jwks_uri"`, `"https://claude.ai@agent.example.net/keys"`),
	"no redirect_uris":               documentWith(`"redirect_uris"`, ``),
	"redirect_uris that are none":    documentWith(`"redirect_uris"`, `[]`),
	"redirect_uris that are text":    documentWith(`"redirect_uris"`, `"http://127.0.0.1/callback"`),
	"redirect_uris with null":        documentWith(`"redirect_uris"`, `["http://127.0.0.1/callback",null]`),
	"a script":                       documentWith(`"redirect_uris"`, `["javascript:alert(1)"]`),
	"a script in another case":       documentWith(`"redirect_uris"`, `["JavaScript://x/%0aalert(1)"]`),
	"data":                           documentWith(`"redirect_uris"`, `["data:text/html,<script>alert(1)</script>"]`),
	"a file":                         documentWith(`"redirect_uris"`, `["file:///tmp/x"]`),
	"http on the Internet":           documentWith(`"redirect_uris"`, `["http://agent.example.net/callback"]`),
	"a redirect_uri with a user":     documentWith(`"redirect_uris"`, `["https://user@agent.example.net/callback"]`),
	"a wildcard":                     documentWith(`"redirect_uris"`, `["https://*.example.net/callback"]`),
	"a thousand redirect_uris":       documentWith(`"redirect_uris"`, `[`+strings.Repeat(`"https://a.example.org/",`, 51)+`"https://a.example.org/"]`),
	"grants that are not here":       documentWith(`"grant_types"`, `["client_credentials","password","implicit"]`),
	"refresh tokens out of nothing":  documentWith(`"grant_types"`, `["refresh_token"]`),
	"no grants":                      documentWith(`"grant_types"`, `[]`),
	"grants that are text":           documentWith(`"grant_types"`, `"authorization_code"`),
	"the implicit flow":              documentWith(`"response_types"`, `["token"]`),
	"a name that is an object":       documentWith(`"client_name"`, `{"en":"Agent"}`),
	"deep nesting":                   documentWith(`"x"`, strings.Repeat(`[`, 2000)+strings.Repeat(`]`, 2000)),
	"nesting that is a little deep":  documentWith(`"x"`, `[[[[[[1]]]]]]`),
	"a hundred members and more":     documentWith(`"x"`, strings.TrimSuffix(strings.Repeat(`0,"%x":`, 0)+manyMembers(120), ",")),
	"5 KiB and a byte":               documentWith(`"x"`, `"`+strings.Repeat("x", 5120)+`"`),
	"something behind it":            documentWith() + "{}",
	"half of it":                     documentWith()[:80],
	"nothing":                        "",
	"blanks":                         " \n ",
	"a text":                         `"https://agent.example.net/oauth/client.json"`,
	"an array":                       "[" + documentWith() + "]",
	"null":                           "null",
	"broken UTF-8":                   strings.Replace(documentWith(), "Agent", "Ag\xffent", 1),
	"a mark of byte order":           "\ufeff" + documentWith(),
	"a page":                         "<!doctype html><html></html>",
}

const publicKeys = `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`

func manyMembers(n int) string {
	text := "0"
	for i := range n {
		text += fmt.Sprintf(`,"m%d":0`, i)
	}
	return text
}

// hostileAnswers carry a document that is good, in a way that is not.
var hostileAnswers = map[string]http.Handler{
	"a redirect":                http.RedirectHandler("https://agent.example.net/other", http.StatusFound),
	"a redirect inside":         http.RedirectHandler("https://169.254.169.254/", http.StatusPermanentRedirect),
	"created":                   answering(201, "application/json", documentWith()),
	"partial content":           answering(206, "application/json", documentWith()),
	"not modified":              answering(304, "application/json", ""),
	"not found":                 answering(404, "application/json", documentWith()),
	"an error":                  answering(503, "application/json", documentWith()),
	"HTML":                      answering(200, "text/html", documentWith()),
	"plain text":                answering(200, "text/plain; charset=utf-8", documentWith()),
	"JSON of JavaScript":        answering(200, "text/json", documentWith()),
	"a type that only ends so":  answering(200, "text/x+json", documentWith()),
	"no type":                   answering(200, "", documentWith()),
	"two types":                 answering(200, "application/json, text/html", documentWith()),
	"a bomb of 10 MB":           packed(strings.Repeat(" ", 10<<20) + documentWith()),
	"a small one, but packed":   packed(documentWith()),
	"megabytes":                 answering(200, "application/json", strings.Repeat(" ", 4<<20)+documentWith()),
	"blanks up to the limit":    answering(200, "application/json", documentWith()+strings.Repeat(" ", 5121)),
	"an answer that never ends": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
	"a slow one": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(6 * time.Second):
		case <-r.Context().Done():
		}
	}),
}

func answering(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		w.WriteHeader(status)
		if status != http.StatusNotModified {
			w.Write([]byte(body))
		}
	})
}

func packed(body string) http.Handler {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(body))
	z.Close()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(b.Bytes())
	})
}

// openPolicy admits documents of all hosts, to requesters of whom each has an address of their own.
func openPolicy(c *oauth.Config) {
	var mu sync.Mutex
	requester := netip.MustParseAddr("2001:db8::")
	c.Clients.Documents = oauth.ClientsOpen
	c.ClientIP = func(*http.Request) netip.Addr {
		mu.Lock()
		defer mu.Unlock()
		b := requester.As16()
		for i := 7; ; i-- {
			if b[i]++; b[i] != 0 {
				break
			}
		}
		requester = netip.AddrFrom16(b)
		return requester
	}
}

// stored returns how many applications are kept that nobody registered.
func (h *clientsFixture) stored() int {
	h.Helper()
	apps, _, err := h.store.Clients(h.Context(), "", driver.Page)
	if err != nil {
		h.Fatal(err)
	}
	return len(apps)
}

func TestClientDocumentIsFetchedForADocumentIDAlone(t *testing.T) {
	h := inMemory(t, openPolicy)
	for _, id := range hostileIDs {
		if w := h.ask(id, agentRedirect); w.Code != 400 || w.Header().Get("Location") != "" {
			t.Errorf("authorize of %q = %d to %q, want a page", id, w.Code, w.Header().Get("Location"))
		}
		h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", id, "refresh_token", "rt_x")).wants(t, id,
			401, 401, "invalid_client")
	}
	if n := h.docs.Asked(""); n != 0 || h.stored() != 0 {
		t.Errorf("%d were fetched and %d stored, want none", n, h.stored())
	}
}

func TestHostileDocumentIsRefusedAndNothingOfItIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t, openPolicy)
		n := 0
		refused := func(what string, answer http.Handler) {
			t.Helper()
			if n++; n%25 == 0 {
				time.Sleep(2 * time.Minute) // no budget is what is tried here
			}
			h.docs.Set(agent, answer)
			begun := time.Now()
			if w := h.ask(agent, agentRedirect); w.Code != 400 || w.Header().Get("Location") != "" {
				t.Errorf("%s: authorize = %d to %q, want a page", what, w.Code, w.Header().Get("Location"))
			}
			if waited := time.Since(begun); waited > 5*time.Second {
				t.Errorf("%s: the user waits for %v, want 5 s at most", what, waited)
			}
			if h.stored() != 0 {
				t.Fatalf("%s: it is stored", what)
			}
		}
		for what, text := range hostileDocuments {
			refused(what, vendordocs.JSON(text))
		}
		for what, answer := range hostileAnswers {
			refused(what, answer)
		}
		if asked := h.docs.Asked(agent); asked != n || h.docs.Asked("") != n {
			t.Errorf("%d of %d were read, %d in all: want one reading each, and none of where redirects lead", asked, n,
				h.docs.Asked(""))
		}
		time.Sleep(2 * time.Minute)
		h.docs.Set(agent, vendordocs.JSON(documentWith()))
		h.codeFor(agent, agentRedirect) // the one that all were made of is good: each was refused for what it says
		if total := len(hostileIDs) + len(hostileDocuments) + len(hostileAnswers); total < 120 {
			t.Errorf("there are %d, want 120", total)
		}
	})
}
