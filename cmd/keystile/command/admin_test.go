package command

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestApplicationWorksHoweverItWasRegistered(t *testing.T) {
	data := t.TempDir()
	s := start(t, data, "--demo=false")
	asked := must(t, "app", "create", "--data", data, "--name", "Asked", "--domain", "a.example")
	machineToken(t, s, asked["client_id"].(string), asked["client_secret"].(string))
	s.stop()
	if _, err := os.Stat(filepath.Join(data, "admin.sock")); err == nil {
		t.Error("the socket is left behind")
	}
	opened := must(t, "app", "create", "--data", data, "--name", "Opened", "--domain", "b.example")
	s = start(t, data, "--demo=false")
	machineToken(t, s, opened["client_id"].(string), opened["client_secret"].(string))
}

// Decision 5.
func TestSettingTakesEffectAtOnce(t *testing.T) {
	s := start(t, t.TempDir())
	app := firstRunOf(t, s.data).App
	ask := s.base + "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {app.ClientID},
		"redirect_uri": {app.RedirectURI}}.Encode()
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if resp, _ := get(t, stay, ask); resp.StatusCode != 200 {
		t.Fatalf("authorize without a challenge = %d before", resp.StatusCode)
	}
	must(t, "setting", "set", "oauth_force_pkce", "1", "--data", s.data)
	if resp, _ := get(t, stay, ask); resp.StatusCode != 302 || !strings.Contains(resp.Header.Get("Location"),
		"error=invalid_request") {
		t.Errorf("authorize without a challenge = %d %s after", resp.StatusCode, resp.Header.Get("Location"))
	}
}

func TestDataFolderIsMadeByServeAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b.db")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"user create --username ada --password horse-battery", "app create --name A --domain a.example", "app list",
		"setting set oauth_force_pkce 1",
		"key rotate", "key list", "audit verify", "backup " + file + "2", "restore " + file, "report migration",
		"billing orders", "session end ada",
	} {
		data := filepath.Join(t.TempDir(), "deep", "data")
		wantFailure(t, 1, "there is no data folder "+data+": name the right one with --data, or make it by starting the "+
			"service: keystile serve --data "+data,
			append(strings.Fields(words), "--data", data)...)
		if _, err := os.Stat(filepath.Dir(data)); err == nil {
			t.Errorf("%s has made a folder", words)
		}
	}
	start(t, filepath.Join(t.TempDir(), "deep", "data"))
}

func TestFolderMayBeFilledBeforeTheFirstStart(t *testing.T) {
	data := t.TempDir()
	must(t, "user", "create", "--data", data, "--username", "ada", "--password", "correct horse", "--role", "admin")
	s := start(t, data)
	if _, err := os.Stat(filepath.Join(data, "first-run.json")); err == nil ||
		strings.Contains(s.out.String(), "first run") {
		t.Errorf("a store with a user in it had a first run: %s", s.out)
	}
}

func TestLongPathHasASocketToo(t *testing.T) {
	temp, err := os.MkdirTemp("", "ks") // short: a socket's path must fit
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	t.Setenv("TMPDIR", temp)
	s := start(t, filepath.Join(t.TempDir(), strings.Repeat("long", 25)))
	must(t, "setting", "get", "oauth_force_pkce", "--data", s.data)
	if !strings.Contains(s.log.String(), "setting get") {
		t.Errorf("the server was not asked: %s", s.log)
	}
}

func TestCommandWrongCallsExit2AndNameTheNearest(t *testing.T) {
	for want, words := range map[string]string{
		`nearest one is "serve"`:          "sevre",
		"nearest known one is --base-url": "serve --baseurl http://x",
		"app what? There is: app create":  "app",
		`nearest one is "user list"`:      "user lst",
		`one is "user create"`:            "help user creat",
		`unknown command "frobnicate"; t`: "frobnicate",
		`lifetimes.code: "soon"`:          "serve --lifetimes-code soon",
		"host:port":                       "config --listen 8080",
	} {
		wantFailure(t, 2, want, strings.Fields(words)...)
	}
}

func TestKeyOfTheEnvironmentThatIsNotKnownStopsEveryCommand(t *testing.T) {
	for _, words := range []string{"serve", "config", "setting get oauth_force_pkce"} {
		var errs strings.Builder
		code := program{storage: Bolt()}.run(t.Context(), strings.Fields(words), nil, &errs, &errs,
			[]string{"KEYSTILE_LISTN=:1"})
		if code != 2 || !strings.Contains(errs.String(), "KEYSTILE_LISTEN") {
			t.Errorf("keystile %s = %d %s", words, code, errs.String())
		}
	}
}

func TestHelpAndVersionAreThere(t *testing.T) {
	for words, want := range map[string]string{
		"help":                    "Applications and people:\n  apikey ",
		"help setting":            "  set ",
		"help serve":              "--trusted-proxies",
		"app create --help":       "--domain HOST",
		"version":                 "keystile ",
		"--version":               "keystile ",
		"version --json":          `"version":`,
		"config":                  "lifetimes.code: 5m",
		"config --json --listen=": "",
	} {
		code, out, _ := command(t, "", strings.Fields(words)...)
		if want == "" && code != 2 || want != "" && (code != 0 || !strings.Contains(out, want)) {
			t.Errorf("keystile %s = %d %s, want %q", words, code, out, want)
		}
	}
}

// isName matches the line of a command of which the help of those above it says nothing.
var isName = regexp.MustCompile(`^[a-z]+$`)

// Everything that people read of a command is there, and fits on a terminal.
func TestHelpOfEveryCommandFitsOnATerminal(t *testing.T) {
	for _, c := range (program{storage: Bolt()}).commands().Commands {
		if c.Summary == "" {
			t.Errorf("%s has no summary", c.Name)
		}
		words := strings.Fields(c.Name)
		for i := range len(words) + 1 {
			code, out, errs := command(t, "", append([]string{"help"}, words[:i]...)...)
			if code != 0 || errs != "" {
				t.Errorf("help %s = %d %s", words[:i], code, errs)
			}
			for line := range strings.Lines(out) {
				if name, listed := strings.CutPrefix(strings.TrimRight(line, " \n"), "  "); listed && name != "keystile" &&
					isName.MatchString(name) {
					t.Errorf("help %s lists %s and does not say what it is for", words[:i], name)
				}
				if n := utf8.RuneCountInString(line) - 1; n > 80 && !strings.Contains(line, "://") {
					t.Errorf("help %s has a line of %d columns: %s", words[:i], n, line)
				}
			}
		}
	}
}
