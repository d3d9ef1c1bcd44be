package admin

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

const importSalt = "salt of 16 bytes"

// importHashes are made by golang.org/x/crypto, at the smallest cost.
var importHashes = []struct{ password, argon2id, bcrypt, scrypt string }{
	{"correct horse ada",
		"$argon2id$v=19$m=64,t=1,p=1$c2FsdCBvZiAxNiBieXRlcw$i5BU7NHHDbStC8HI22BZREP/BVVd0EA707bVpLDp/jo",
		"$2a$04$dQmz4JUscDrM2CPp5Ou6hew6KACfPi37d.Pj6DTiVc46WdgdolKeC",
		"$scrypt$ln=4,r=8,p=1$c2FsdCBvZiAxNiBieXRlcw$5sv1nEW09M2RlxWSxye+Gx3k7gjPwQ5JIssNGjTriuc"},
	{"correct horse bob",
		"$argon2id$v=19$m=64,t=1,p=1$c2FsdCBvZiAxNiBieXRlcw$QRM3t1XkYlKSUntuyldSidW9tAMdwH8Qhut2oVpz2bQ",
		"$2a$04$7DxiD6uA99l/mhV5NuSmPeQoA9Ox3WNmTOeAk3BXSsdC73Zyiv77.",
		"$scrypt$ln=4,r=8,p=1$c2FsdCBvZiAxNiBieXRlcw$8VOOWR8Bz176BSSh1jBxa8h8Bv+L2VKAi+kb5X1luUQ"},
	{"planted",
		"$argon2id$v=19$m=64,t=1,p=1$c2FsdCBvZiAxNiBieXRlcw$CqfAPdY4NHtSGfdpJyZyntNmvpt5G8mVoAW2OCqr3x4",
		"$2a$04$.fs33p9ogIKZSqFvEJA9N.QXdwrrxaSRVp.oSK9PklQdDb945zsWa",
		"$scrypt$ln=4,r=8,p=1$c2FsdCBvZiAxNiBieXRlcw$DaNB2A8GsgmVsw1j01wbsAOaBRXprr+F6mTD9g32p7k"},
}

func pbkdf2Of(t *testing.T, password string, rounds int) string {
	t.Helper()
	key, err := pbkdf2.Key(sha256.New, password, []byte(importSalt), rounds, 64)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(key)
}

// exports returns files of each format with three users each: ada and bob, whose password is "correct horse NAME", and
// eve, whose hash is that of another password.
func exports(t *testing.T) map[string]string { return exportsOf(t, "ada", "bob", "eve") }

// exportsOf returns files of each format with these users, who have the hashes in turn.
func exportsOf(t *testing.T, names ...string) map[string]string {
	t.Helper()
	salt := base64.StdEncoding.EncodeToString([]byte(importSalt))
	var casdoor, keycloak []string
	for _, h := range importHashes {
		casdoor, keycloak = append(casdoor, pbkdf2Of(t, h.password, 27500)), append(keycloak, pbkdf2Of(t, h.password, 30))
	}
	rows := map[string][]string{}
	add := func(format, form string, args ...any) {
		rows[format] = append(rows[format], fmt.Sprintf(form, args...))
	}
	for i, name := range names {
		i %= len(importHashes)
		h := importHashes[i]
		add("keystile", `{"username":"keystile-%s","password_hash":%q}`, name, h.argon2id)
		add("csv", "csv-%s,%s", name, h.bcrypt)
		add("casdoor", `{"owner":"acme","name":"casdoor-%s","password":%q,"passwordSalt":%q,"passwordType":"pbkdf2-salt"}`,
			name, casdoor[i], salt)
		add("keycloak", `{"username":"keycloak-%s","enabled":true,"credentials":[{"type":"password","secretData":%q,`+
			`"credentialData":%q}]}`, name, fmt.Sprintf(`{"value":%q,"salt":%q}`, keycloak[i], salt),
			`{"hashIterations":30,"algorithm":"pbkdf2-sha256"}`)
		add("zitadel", `{"userId":"1","user":{"userName":"zitadel-%s","hashedPassword":{"value":%q}}}`, name, h.scrypt)
		add("auth0", `{"username":"auth0-%s","passwordHash":%q}`, name, h.bcrypt)
	}
	lines := func(format string) string { return strings.Join(rows[format], "\n") }
	list := func(format string) string { return strings.Join(rows[format], ",\n") }
	return map[string]string{
		"keystile": lines("keystile"), "csv": "username,password_hash\n" + lines("csv"), "auth0": lines("auth0"),
		"casdoor": "[" + list("casdoor") + "]", "keycloak": `{"users":[` + list("keycloak") + "]}",
		"zitadel": `{"orgs":[{"humanUsers":[` + list("zitadel") + "]}]}",
	}
}

func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUsersOfSixFormatsSignInUnchanged(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := workshop(t, served)
		for format, text := range exports(t) {
			path := fileOf(t, text)
			for i, want := range []string{"made 3, passed 0", "made 0, passed 3"} {
				v := o.must("user", "import", path, "--format", format)
				if got := fmt.Sprintf("made %v, passed %v", v["made"], v["passed_over"]); got != want || v["refused"] != 0.0 {
					t.Errorf("%s, run %d: %s, refused %v", format, i, got, v["refused"])
				}
			}
			for _, name := range []string{"ada", "bob"} {
				u, err := o.users.Authenticate(t.Context(), format+"-"+name, "correct horse "+name)
				if err != nil || u.Username != format+"-"+name || u.Role != "" {
					t.Errorf("%s-%s: %v, %v", format, name, u, err)
				}
			}
			if _, err := o.users.Authenticate(t.Context(), format+"-eve", "correct horse eve"); !errors.Is(err,
				storage.ErrNotFound) {
				t.Errorf("%s: the planted hash: %v", format, err)
			}
		}
	}
}

// Everybody signs in with the password that they have, twice, as the first time makes a new hash of it. A planted hash
// opens nothing.
func TestHundredThousandImportedUsersSignIn(t *testing.T) {
	if testing.Short() {
		t.Skip("verifies 200,000 passwords")
	}
	const each = 16_800 // of each format; a third of them have a planted hash
	names := make([]string, each)
	for i := range names {
		names[i] = fmt.Sprintf("%05d", i)
	}
	o := workshop(t, false)
	for format, text := range exportsOf(t, names...) {
		v := o.must("user", "import", fileOf(t, text), "--format", format)
		if v["made"] != float64(each) || v["refused"] != 0.0 {
			t.Fatalf("%s: made %v, refused %v", format, v["made"], v["refused"])
		}
		opened, refused := 0, 0
		for i, name := range names {
			h := importHashes[i%len(importHashes)]
			if h.password == "planted" {
				if _, err := o.users.Authenticate(t.Context(), format+"-"+name, "correct horse eve"); !errors.Is(err,
					storage.ErrNotFound) {
					t.Fatalf("%s-%s, whose hash is planted: %v", format, name, err)
				}
				refused++
				continue
			}
			for range 2 {
				u, err := o.users.Authenticate(t.Context(), format+"-"+name, h.password)
				if err != nil || u.Username != format+"-"+name {
					t.Fatalf("%s-%s: %v, %v", format, name, u, err)
				}
			}
			opened++
		}
		if opened != 2*refused || opened+refused != each {
			t.Errorf("%s: %d sign in, %d do not", format, opened, refused)
		}
	}
}

func TestRefusedRowIsToldWithItsLineAndTheOthersAreMade(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := workshop(t, served)
		o.user("taken")
		path := fileOf(t, `{"username":"one","role":"admin","groups":["ops"]}
{"username":"taken"}

{"user":"two"}
{"username":"one"}
{"username":"three","password_hash":"$2b$31$`+strings.Repeat("a", 53)+`"}
`)
		want := "keystile: line 2: username \"taken\" is taken, or looks like one that is\n"
		for run, made := range []string{"dry", "1", "0"} {
			words := []string{"user", "import", path}
			if made == "dry" {
				words = append(words, "--dry-run")
			}
			code, out, errs := o.run("", words...)
			if code != 1 || !strings.Contains(errs, want) || !strings.Contains(errs, "line 4: ") ||
				!strings.Contains(errs, "line 5: ") || !strings.Contains(errs, "line 6: password hash: it costs more") ||
				!strings.Contains(errs, "4 rows were refused") {
				t.Errorf("served: %t, run %d: %d %q %q", served, run, code, out, errs)
			}
			there := strings.Contains(out, "made         "+made) || made == "dry" && strings.Contains(out, "dry_run      true")
			if !there || !strings.Contains(out, "refused      4") {
				t.Errorf("served: %t, run %d says %q", served, run, out)
			}
			_, err := userOf(t.Context(), o.target.Store, "one")
			if (err == nil) != (run > 0) {
				t.Errorf("served: %t, run %d: the user of line 1: %v", served, run, err)
			}
		}
		if u, err := userOf(t.Context(), o.target.Store, "one"); err != nil || u.Role != "" {
			t.Errorf("a role from a file: %q, %v", u.Role, err)
		}
		code, out, _ := o.run("", "user", "import", path, "--json")
		if code != 1 || !strings.Contains(out, `"refused":4,"rows_refused":[{"line":4,"reason":"not read: unknown field`) {
			t.Errorf("as JSON: %d %s", code, out)
		}
	}
}

func TestDryRunKnowsWhatAnEarlierPartWouldMake(t *testing.T) {
	o := newOffice(t)
	var text strings.Builder
	for i := range partRows + 2 {
		fmt.Fprintf(&text, "{\"username\":\"u%d\"}\n", i%(partRows+1))
	}
	text.WriteString("{\"username\":\"U0\"}\n")
	path := fileOf(t, text.String())
	for _, words := range [][]string{{"--dry-run"}, nil} {
		code, out, errs := o.run("", append([]string{"user", "import", path, "--json"}, words...)...)
		if code != 1 || !strings.Contains(out, fmt.Sprintf(`"made":%d,"passed_over":1,"refused":1`, partRows+1)) {
			t.Errorf("%q: %d %s %s", words, code, out, errs)
		}
	}
}

func TestImportThatIsCalledWronglyOrCannotBeReadSaysSo(t *testing.T) {
	o := workshop(t, false)
	o.wantFailure(2, `"xlsx" is no format`, "user", "import", "f", "--format", "xlsx")
	o.wantFailure(2, "no such file", "user", "import", filepath.Join(t.TempDir(), "none"))
	o.wantFailure(2, "give PROVIDER=URL", "user", "import", "f", "--issuer", "x")
	o.wantFailure(1, "there are no users in the file", "user", "import", fileOf(t, "{}"), "--format", "keycloak")
	path := fileOf(t, `[{"username":"zoe"},{"username":`)
	if code, out, errs := o.run("", "user", "import", path, "--format", "auth0"); code != 1 ||
		!strings.Contains(out, "made         1") || !strings.Contains(errs, "what follows is not read") {
		t.Errorf("a file that breaks off: %d %q %q", code, out, errs)
	}
	o.unwritten = errors.New("away")
	if code, _, errs := o.run("", "user", "import", fileOf(t, `{"username":"bob"}`)); code != 1 ||
		!strings.Contains(errs, "the audit trail could not be written") {
		t.Errorf("without a trail: %d %q", code, errs)
	}
}
