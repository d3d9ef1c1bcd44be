package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// outsider is an issuer of others, or an application with a key.
type outsider struct {
	*httptest.Server
	key jose.JSONWebKey
}

func newOutsider(t *testing.T) *outsider {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(t, err)
	o := &outsider{key: jose.JSONWebKey{Key: private, KeyID: "1", Algorithm: "ES256", Use: "sig"}}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/keys" {
			w.Write([]byte(o.keys()))
			return
		}
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, o.URL, o.URL+"/keys")
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *outsider) keys() string {
	text, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{o.key.Public()}})
	return string(text)
}

// says signs claims, which end in a minute.
func (o *outsider) says(t *testing.T, typ string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: o.key},
		(&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	fatal(t, err)
	claims["iat"], claims["exp"], claims["jti"] = time.Now().Unix(), time.Now().Add(time.Minute).Unix(), rand.Text()
	text, err := json.Marshal(claims)
	fatal(t, err)
	signed, err := signer.Sign(text)
	fatal(t, err)
	compact, err := signed.CompactSerialize()
	fatal(t, err)
	return compact
}

// grants sends a token request and returns what is answered.
func (s *service) grants(t *testing.T, pairs ...string) map[string]any {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	_, body := post(t, s, "/oauth/token", form)
	var answer map[string]any
	fatal(t, json.Unmarshal([]byte(body), &answer))
	return answer
}

// An identity provider of the configuration, CI by a command, and an application by its keys: each gets a token of the
// program, through nothing but its own settings.
func TestAssertionsAreRedeemedByTheProgram(t *testing.T) {
	const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	const clientJWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	idp, ci, machine := newOutsider(t), newOutsider(t), newOutsider(t)
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	fatal(
		t,
		os.WriteFile(file, []byte("assertions:\n  token_endpoint_audience: true\n  issuers:\n    - {issuer: '"+idp.URL+
			"', use: id-jag, create: true, scopes: [openid, tools], allow_private: [127.0.0.0/8]}\n"), 0o600),
	)
	s := start(t, t.TempDir(), "--config", file)
	app := firstRunOf(t, s.data).App
	rules := filepath.Join(t.TempDir(), "rules.json")
	fatal(t, os.WriteFile(rules, []byte(`[{"subject": "repo:acme/*", "claims": {"ref_protected": "true"}, "client_id": "`+
		app.ClientID+`"}]`), 0o600))
	shown := must(
		t,
		"issuer",
		"add",
		ci.URL,
		"--use",
		"workload",
		"--rules",
		rules,
		"--allow-private",
		"127.0.0.0/8",
		"--data",
		s.data,
	)
	if shown["use"] != "workload" || len(shown["rules"].([]any)) != 1 {
		t.Errorf("issuer add says %v", shown)
	}

	jag := s.grants(t, "grant_type", jwtBearer, "client_id", app.ClientID, "client_secret", app.ClientSecret, "assertion",
		idp.says(t, "oauth-id-jag+jwt", map[string]any{"iss": idp.URL, "sub": "ada", "aud": s.base, "client_id": app.ClientID,
			"scope": "openid profile tools", "resource": s.base + "/api/mcp"}))
	if jag["scope"] != "openid tools" {
		t.Errorf("the ID-JAG is redeemed for %v", jag)
	}
	job := s.grants(t, "grant_type", jwtBearer, "assertion", ci.says(t, "JWT", map[string]any{"iss": ci.URL,
		"sub": "repo:acme/shop", "aud": s.base, "ref_protected": "true"}))
	if job["scope"] != "app" {
		t.Errorf("the job gets %v", job)
	}

	keys := filepath.Join(t.TempDir(), "keys.json")
	fatal(t, os.WriteFile(keys, []byte(machine.keys()), 0o600))
	id := must(t, "app", "create", "--name", "Machine", "--domain", "machine.example.com", "--data", s.data)
	named, secret := id["client_id"].(string), id["client_secret"].(string)
	shown = must(t, "app", "set", named, "--jwks", keys, "--exchange", "--data", s.data)
	if !strings.Contains(shown["jwks"].(string), `"kid":"1"`) || shown["exchange"] != true ||
		shown["id_token_alg"] != "ES256" {
		t.Errorf("app set says %v", shown)
	}
	for _, audience := range []string{s.base, s.base + "/oauth/token"} {
		got := s.grants(t, "grant_type", "client_credentials", "client_assertion_type", clientJWT, "client_assertion",
			machine.says(t, "JWT", map[string]any{"iss": named, "sub": named, "aud": audience}))
		if got["scope"] != "app" {
			t.Errorf("an assertion for %s gets %v", audience, got)
		}
	}
	if got := s.grants(t, "grant_type", "client_credentials", "client_id", named, "client_secret", secret); got["error"] !=
		"invalid_client" {
		t.Errorf("the appkey gets %v", got)
	}
	must(t, "app", "set", named, "--jwks=", "--data", s.data)
	if got := s.grants(t, "grant_type", "client_credentials", "client_id", named, "client_secret", secret); got["scope"] !=
		"app" {
		t.Errorf("without keys the appkey gets %v", got)
	}
	must(t, "issuer", "remove", ci.URL, "--data", s.data)
	if got := s.grants(t, "grant_type", jwtBearer, "assertion", ci.says(t, "JWT", map[string]any{"iss": ci.URL,
		"sub": "repo:acme/shop", "aud": s.base, "ref_protected": "true"})); got["error"] != "invalid_grant" {
		t.Errorf("of an issuer that was removed a job gets %v", got)
	}
}

// The address of keys is read as upstreams are: a private one only where upstreams.allow_private admits it.
func TestAddressOfKeysObeysTheListOfPrivateUpstreams(t *testing.T) {
	machine := newOutsider(t)
	for _, allowed := range []bool{false, true} {
		args := []string{}
		if allowed {
			args = append(args, "--upstreams-allow-private", "127.0.0.0/8")
		}
		s := start(t, t.TempDir(), args...)
		named := firstRunOf(t, s.data).App.ClientID
		must(t, "app", "set", named, "--jwks", machine.URL+"/keys", "--data", s.data)
		got := s.grants(t, "grant_type", "client_credentials", "client_assertion_type",
			"urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion",
			machine.says(t, "JWT", map[string]any{"iss": named, "sub": named, "aud": s.base}))
		if is := got["scope"] == "app"; is != allowed {
			t.Errorf("allowed %t: %v", allowed, got)
		}
	}
}

// The page examples/ASSERTIONS.md says what to type: all of it is taken.
func TestCommandsOfThePageOfAssertionsAreTaken(t *testing.T) {
	page, err := os.ReadFile("../../../examples/ASSERTIONS.md")
	fatal(t, err)
	folder := t.TempDir()
	s := start(t, t.TempDir())
	id := firstRunOf(t, s.data).App.ClientID
	program := must(t, "app", "create", "--name", "Program", "--domain", "program.example.com", "--data", s.data)
	fatal(t, os.WriteFile(filepath.Join(folder, "keys.json"), []byte(newOutsider(t).keys()), 0o600))
	_, rules, _ := strings.Cut(string(page), "<<'END'\n")
	rules, _, _ = strings.Cut(rules, "END\n")
	fatal(t, os.WriteFile(filepath.Join(folder, "rules.json"), []byte(strings.ReplaceAll(rules, "CLIENT_ID", id)), 0o600))
	n := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(string(page), "\\\n", ""), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "keystile" {
			continue
		}
		for i, word := range words {
			switch word {
			case "CLIENT_ID", "AGENT":
				words[i] = id
			case "PROGRAM":
				words[i] = program["client_id"].(string)
			case "keys.json", "rules.json":
				words[i] = filepath.Join(folder, word)
			}
		}
		must(t, append(words[1:], "--data", s.data)...)
		n++
	}
	if n < 8 {
		t.Errorf("the page has %d commands", n)
	}
}
