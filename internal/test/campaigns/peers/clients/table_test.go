package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const guide = "../../../../../examples/CLIENTS.md"

// row is a line of the guide's table.
type row struct{ name, version, set, does, test string }

// inTests are the clients whose tests have no list: in Go, Apache, and those of agents, which register themselves.
var inTests = []row{
	{name: "libapache2-mod-auth-openidc", does: "signed in, id_token, userinfo, refresh, logout",
		test: "clients.TestModAuthOpenIDC"},
	{name: "golang.org/x/oauth2", does: "signed in, userinfo, refresh", test: "rp.TestXOAuth2"},
	{name: "github.com/coreos/go-oidc/v3", set: "`--id-token-alg RS256`",
		does: "signed in, id_token, userinfo", test: "rp.TestCoreosGoOIDC"},
	{name: "github.com/zitadel/oidc/v3", set: "`--id-token-alg RS256`",
		does: "signed in, id_token, userinfo, refresh, revoked, device, its own token, logout", test: "rp.TestZitadelRP"},
	{name: "github.com/oauth2-proxy/oauth2-proxy/v7", set: byES256,
		does: "signed in, id_token, userinfo", test: "rp.TestOAuth2Proxy"},
	{name: "github.com/markbates/goth", does: "signed in, userinfo, refresh", test: "rp.TestGoth"},
	{name: "github.com/modelcontextprotocol/go-sdk", does: agent, test: "mcp.TestGoSDKSignsInByRegisteringItself"},
	{name: "@modelcontextprotocol/sdk", does: agent, test: "peers.TestStockClientsSignInByRegisteringThemselves"},
	{name: "@modelcontextprotocol/client", does: agent, test: "peers.TestStockClientsSignInByRegisteringThemselves"},
	{name: "mcp-remote", does: agent, test: "peers.TestStockClientsSignInByRegisteringThemselves"},
}

const (
	agent   = "registered, signed in, tools, refresh"
	byES256 = "`--id-token-alg ES256`, and `id_token_algs: [HS256, ES256]` of the service"
)

// rows are those of the lists, as the guide has them, and then the others.
func rows(t *testing.T) (all []row) {
	t.Helper()
	for _, l := range []struct {
		test    string
		clients []client
	}{
		{"TestBrowserClients", browserClients}, {"TestNodeClients", nodeClients}, {"TestPythonClients", pythonClients},
		{"TestRubyClients", rubyClients}, {"TestPerlClients", perlClients},
	} {
		for _, c := range l.clients {
			set := c.set
			switch {
			case c.listed:
				set = byES256
			case c.alg != "":
				set = strings.TrimSuffix("`--id-token-alg "+c.alg+"`; "+set, "; ")
			}
			test := "clients." + l.test + "/" + strings.ReplaceAll(c.name, " ", "_")
			all = append(all, row{name: cmp.Or(c.as, c.name), set: set, does: c.steps, test: test})
		}
	}
	all = append(all, inTests...)
	for i := range all {
		all[i].set = cmp.Or(all[i].set, "nothing")
		all[i].version = version(t, all[i])
	}
	return all
}

func (r row) String() string {
	return fmt.Sprintf("| `%s` | %s | %s | %s | `%s` |", r.name, r.version, r.set, r.does, r.test)
}

// The guide has a row for each client that the tests hold, with the version that they ran and what they set, and no
// row more.
func TestGuideHasWhatTheTestsRan(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile("(?m)^\\| `.*$").FindAllString(string(text), -1)
	all := rows(t)
	if len(all) < 22 {
		t.Errorf("there are %d clients, want 22 at least", len(all))
	}
	for _, r := range all {
		if !slices.ContainsFunc(said, func(line string) bool { return matches(line, r) }) {
			t.Errorf("the guide lacks\n%s", r)
		}
		exists(t, r.test)
	}
	for _, line := range said {
		if !slices.ContainsFunc(all, func(r row) bool { return matches(line, r) }) {
			t.Errorf("no test has\n%s", line)
		}
	}
}

// debian is the release whose versions the guide has. Others have packages of the same names.
const debian = "bookworm"

// matches compares a line with a row. Of a package of Debian's that is not installed, or of another release, any
// version is right.
func matches(line string, r row) bool {
	if r.version == "" {
		cells := strings.Split(line, " | ")
		if len(cells) != 5 {
			return false
		}
		r.version = cells[1]
	}
	return line == r.String()
}

// version returns what the tests run: by the lock of npm, a go.mod or dpkg.
func version(t *testing.T, r row) string {
	t.Helper()
	folder, _, _ := strings.Cut(r.test, ".")
	switch {
	case strings.HasPrefix(r.name, "golang.org/") || strings.HasPrefix(r.name, "github.com/"):
		text, err := os.ReadFile("../" + folder + "/go.mod")
		must(t, err)
		found := regexp.MustCompile(`(?m)\s` + regexp.QuoteMeta(r.name) + ` v(\S+)`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s is not in the go.mod of %s", r.name, folder)
		}
		return string(found[1])
	case regexp.MustCompile(`^(python3|ruby|lib)`).MatchString(r.name):
		if system, _ := os.ReadFile("/etc/os-release"); !strings.Contains(string(system), "VERSION_CODENAME="+debian) {
			return ""
		}
		out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", r.name).Output()
		if err != nil {
			return ""
		}
		upstream, _, _ := strings.Cut(string(out), "-") // without what Debian mended
		return strings.TrimSuffix(upstream, "+ds")
	}
	text, err := os.ReadFile(node + "/package-lock.json")
	must(t, err)
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	must(t, json.Unmarshal(text, &lock))
	found := lock.Packages["node_modules/"+r.name].Version
	if found == "" {
		t.Fatalf("%s is not in package-lock.json", r.name)
	}
	return found
}

// exists fails if a test is none of the package that it names.
func exists(t *testing.T, test string) {
	t.Helper()
	name, _, _ := strings.Cut(test, "/")
	folder, function, _ := strings.Cut(name, ".")
	at := "../" + folder
	if folder == "peers" {
		at = ".."
	}
	files, err := os.ReadDir(at)
	must(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(at + "/" + f.Name())
		must(t, err)
		if strings.Contains(string(text), "\nfunc "+function+"(t *testing.T)") {
			return
		}
	}
	t.Errorf("there is no test %s", test)
}
