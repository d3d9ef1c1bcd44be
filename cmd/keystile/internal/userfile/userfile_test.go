package userfile

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is read to testdata")

// formatOf is the format of a file of testdata.
var formatOf = map[string]string{"keystile.jsonl": "keystile", "users.csv": "csv", "keycloak.json": "keycloak",
	"casdoor.json": "casdoor", "zitadel.json": "zitadel", "auth0.ndjson": "auth0"}

// shown returns all that is read of a file, a line for each row.
func shown(t *testing.T, path, format string, issuers map[string]string) string {
	t.Helper()
	f, err := Open(path, format, issuers)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for item, err := range f.Items() {
		switch {
		case err != nil:
			fmt.Fprintf(&out, "! %v\n", err)
		case item.Refused != "":
			fmt.Fprintf(&out, "%d refused: %s\n", item.Line, item.Refused)
		default:
			row, err := json.Marshal(item.Row)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%d %s\n", item.Line, row)
		}
	}
	return out.String()
}

func TestExportOfEachProductIsReadRowByRow(t *testing.T) {
	for name, format := range formatOf {
		path := filepath.Join("testdata", name)
		got := shown(t, path, format, nil)
		if *update {
			if err := os.WriteFile(path+".rows", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path + ".rows")
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileThatCannotBeReadSaysWhereAndWhy(t *testing.T) {
	long := strings.Repeat("x", maxRow+2*slack)
	for promise, c := range map[string]struct{ format, text, want string }{
		"an array of Auth0": {"auth0", "\n[{\"username\":\n\"ada\"},\n{\"username\":\"bob\"}]",
			"2 {\"username\":\"ada\"}\n4 {\"username\":\"bob\"}\n"},
		"an array of Casdoor": {"casdoor", `[{"display_name":"Ada L","name":"ada","is_forbidden":1,"groups":"[\"ops\"]"}]`,
			`1 {"username":"ada","name":"Ada L","groups":["ops"],"disabled":true}` + "\n"},
		"what get-users answers": {"casdoor", `{"status":"ok","data":[{"name":"ada"}]}`, `1 {"username":"ada"}` + "\n"},
		"several realms": {"keycloak",
			`[{"realm":"a","users":[{"username":"ada"}]},{"realm":"b","users":[{"username":"bob"}]}]`,
			"1 {\"username\":\"ada\"}\n1 {\"username\":\"bob\"}\n"},
		"a mark before UTF-8":     {"keystile", "\xef\xbb\xbf{\"username\":\"ada\"}", "1 {\"username\":\"ada\"}\n"},
		"no end of the last line": {"csv", "\xef\xbb\xbfusername\nada", "2 {\"username\":\"ada\"}\n"},
		"UTF-16":                  {"csv", "\xff\xfeu\x00", "! the file is UTF-16: save it as UTF-8\n"},
		"no UTF-8": {"keystile", "{\"username\":\"\xff\"}\n{\"username\":\"ada\"}",
			"1 refused: it is not UTF-8: save the file as UTF-8\n2 {\"username\":\"ada\"}\n"},
		"a line that is too long": {"keystile", long + "\n{\"username\":\"ada\"}\n" + long,
			"1 refused: it has more than 1048576 bytes\n2 {\"username\":\"ada\"}\n3 refused: it has more than 1048576 bytes\n"},
		"an object that is": {"keycloak", "{\"users\":[{\"username\":\"ada\"},\n\n{\"username\":\"" + long + "\"}]}",
			"! line 3: what follows is not read: it has more than 1048576 bytes\n"},
		"a quote without an end": {"csv", "username\nada\n\"" + strings.Repeat("y\n", maxRow),
			"2 {\"username\":\"ada\"}\n! it has more than 1048576 bytes\n"},
		"an end within a row": {"zitadel", `{"orgs":[{"humanUsers":[{"user":{"userName":"ada"}},{"us`,
			"! line 1: what follows is not read: unexpected EOF\n"},
		"no users": {"keycloak", `{"realm":"a"}`,
			"! there are no users in the file: they stand at .users[] or [].users[]\n"},
		"an empty table": {"csv", "", "! the file is empty: its first line names the columns\n"},
		"no username":    {"csv", "email\n", "! line 1: there is no column username\n"},
		"a column that is none": {"csv", "username,emial\n",
			"! line 1: \"emial\" is no column: the first line names the columns, of username, email, " +
				"email_verified, name, nickname, password_hash, groups, attributes, external_ids, disabled\n"},
		"a column twice": {"csv", "username,username\n", "! line 1: the column \"username\" is there twice\n"},
	} {
		if got := shown(t, written(t, c.text), c.format, nil); got != c.want {
			t.Errorf("%s: %.300q, want %.300q", promise, got, c.want)
		}
	}
}

func TestProviderThatTheOperatorKnowsIsTakenOrLeftOut(t *testing.T) {
	path := written(t, `{"users":[{"username":"ada","federatedIdentities":[{"identityProvider":"saml","userId":"1"},`+
		`{"identityProvider":"corp","userId":"2"}]}]}`)
	got := shown(t, path, "keycloak", map[string]string{"saml": "", "corp": "https://corp.example"})
	if want := `1 {"username":"ada","external_ids":["oidc:https://corp.example:2"]}` + "\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A stop of the one who reads is obeyed.
func TestReadingEndsWhenNobodyReads(t *testing.T) {
	for name, format := range formatOf {
		f, err := Open(filepath.Join("testdata", name), format, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range f.Items() {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s: %d items", name, n)
		}
	}
	if _, err := Open("testdata/users.csv", "xlsx", nil); err == nil {
		t.Error("a format that is none is taken")
	}
	for _, path := range []string{"testdata/none", "testdata"} {
		if _, err := Open(path, "csv", nil); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
	if _, err := Open(os.DevNull, "keycloak", nil); err == nil {
		t.Error("what cannot be read twice is taken")
	}
}

// A file of any content is read to its end or to an error, and each item has a line.
func FuzzItems(f *testing.F) {
	for name, format := range formatOf {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(format, string(text))
	}
	f.Fuzz(func(t *testing.T, format, text string) {
		file, err := Open(written(t, text), format, nil)
		if err != nil {
			return
		}
		line := 0
		for item, err := range file.Items() {
			if err == nil && (item.Line < max(line, 1) || item.Line > strings.Count(text, "\n")+1) {
				t.Errorf("line %d after %d", item.Line, line)
			}
			line = item.Line
		}
	})
}
