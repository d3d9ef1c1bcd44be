package lasthop

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/statement"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/memory"
)

const (
	page   = "../../../../../examples/behind/CALLERS.md"
	origin = "https://api.example.com"
	python = "/usr/bin/python3" // Debian's, which has Debian's libraries
)

// code returns a block of the page in a language, for a service at another issuer.
func code(t *testing.T, language, issuer string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	if found == nil || !bytes.Contains(found[1], []byte("https://id.example.com")) {
		t.Fatalf("%s has no code in %s", page, language)
	}
	return strings.ReplaceAll(string(found[1]), "https://id.example.com", issuer)
}

func TestCodeOfThePageVerifiesStatements(t *testing.T) {
	for _, l := range []struct {
		language, file, main string
		ready                func(t *testing.T, dir string)
		run                  []string
	}{
		{"js", "caller.mjs", "main.mjs", modules, []string{"node", "main.mjs"}},
		{"python", "caller.py", "main.py", pyJWT, []string{python, "-B", "main.py"}},
	} {
		t.Run(l.language, func(t *testing.T) {
			dir, site := t.TempDir(), agents.Start(t)
			l.ready(t, dir)
			main, err := os.ReadFile(filepath.Join("testdata", l.main))
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{l.file: code(t, l.language, site.URL), l.main: string(main)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			judge(t, dir, l.run, site)
		})
	}
}

// judge gives a program what an upstream may get, and compares what it says.
func judge(t *testing.T, dir string, run []string, site *agents.Site) {
	t.Helper()
	good, bad := statements(t, site)
	var in bytes.Buffer
	for _, c := range good {
		json.NewEncoder(&in).Encode(map[string]string{lasthop.Header: c.text})
	}
	names := []string{"none"}
	json.NewEncoder(&in).Encode(map[string]string{})
	for name, text := range bad {
		names = append(names, name)
		json.NewEncoder(&in).Encode(map[string]string{lasthop.Header: text})
	}
	c := exec.CommandContext(t.Context(), run[0], run[1:]...)
	c.Dir, c.Stdin = dir, &in
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(good)+len(names) {
		t.Fatalf("%q: %v\n%s\n%s", run, err, out, errors.Bytes())
	}
	for i, c := range good {
		var said struct {
			Sub, Tool string
			Act       *struct{ Sub string }
		}
		if json.Unmarshal([]byte(lines[i]), &said) != nil || said.Sub != c.sub || said.Tool != "shop__get" ||
			(said.Act != nil) != c.acted {
			t.Errorf("of %s it says %s", c.sub, lines[i])
		}
	}
	for i, name := range names {
		if line := lines[len(good)+i]; !strings.HasPrefix(line, `{"refused"`) {
			t.Errorf("%s: it says %s, want a refusal", name, line)
		}
	}
}

type genuine struct {
	text, sub string
	acted     bool
}

// statements returns some that are good for the service of the page, and what is none.
func statements(t *testing.T, site *agents.Site) (good []genuine, bad map[string]string) {
	t.Helper()
	call := lasthop.Call{Audience: origin, Tool: "shop__get", RequestID: "r1",
		Identity: lasthop.Identity{Kind: lasthop.Signed}}
	sign := func(caller storage.Caller, change func(*lasthop.Call)) string {
		one := call
		change(&one)
		text, err := site.Tokens.SignCaller(t.Context(), caller, one)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	same := func(*lasthop.Call) {}
	itself := storage.Caller{AppID: "app1"}
	user := storage.Caller{AppID: "app1", UserID: "u1", Actors: []string{"a1", "a2"}}
	good = []genuine{{sign(user, same), "u1", true}, {sign(itself, same), "app1", false},
		{sign(user, func(c *lasthop.Call) { c.JTI = lasthop.Off }), "u1", true}}
	keys, err := token.OpenKeys(t.Context(), site.Store)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	old := statement.Statement{Issuer: site.URL, Audience: origin, Subject: "u1", ClientID: "app1", Tool: "shop__get",
		IssuedAt: now.Add(-3 * time.Minute), ExpiresAt: now.Add(-2 * time.Minute)}
	expired, err := statement.Sign(keys, old)
	if err != nil {
		t.Fatal(err)
	}
	claims := `{"iss":"` + site.URL + `","aud":"` + origin + `","sub":"u1","client_id":"app1","tool":"shop__get","exp":9999999999}`
	access, err := keys.Sign(token.ES256, token.TypeAccess, []byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Split(good[0].text, ".")
	other := strings.Split(good[1].text, ".")
	bad = map[string]string{"empty": "", "text": "forged", "expired": expired, "an access token": access,
		"another upstream":         sign(user, func(c *lasthop.Call) { c.Audience = "https://other.example" }),
		"another capability":       sign(user, func(c *lasthop.Call) { c.Tool = "other__get" }),
		"a capability that begins": sign(user, func(c *lasthop.Call) { c.Tool = "shopping__get" }),
		"another's claims":         strings.Join([]string{first[0], other[1], first[2]}, "."),
		"no signature":             strings.Join([]string{first[0], first[1], ""}, "."),
		"a shared secret":          token.SignHS256(storage.NewSecret(string(keys.JWKS().Body())), token.TypeCaller, []byte(claims)),
		"twice":                    good[0].text + ", " + good[0].text, "another issuer's key": foreign(t, site.URL)}
	return good, bad
}

// foreign returns a statement by a key that nobody publishes here.
func foreign(t *testing.T, issuer string) string {
	t.Helper()
	backend := memory.New()
	defer backend.Close()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := token.OpenKeys(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	text, err := statement.Sign(keys, statement.Statement{Issuer: issuer, Audience: origin, Subject: "u1",
		ClientID: "app1", Tool: "shop__get", IssuedAt: now, ExpiresAt: now.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func modules(t *testing.T, dir string) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	installed, err := filepath.Abs("../node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(installed, "jose")); err != nil {
		t.Skip("jose is not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	if err := os.Symlink(installed, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
}

func pyJWT(t *testing.T, _ string) {
	if err := exec.Command(python, "-c", "import jwt, cryptography").Run(); err != nil {
		t.Skip("python3-jwt and python3-cryptography are not installed")
	}
}

func TestPageNamesEveryClaim(t *testing.T) {
	site := agents.Start(t)
	good, _ := statements(t, site)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(good[0].text, ".")[1])
	if err == nil {
		err = json.Unmarshal(raw, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	table := string(text[bytes.Index(text, []byte("| claim |")):bytes.Index(text, []byte("`identity_subject"))])
	for name := range claims {
		if known := []string{"iat", "exp"}; !strings.Contains(table, "`"+name+"`") && !slices.Contains(known, name) {
			t.Errorf("the page does not say what %s is", name)
		}
	}
}
