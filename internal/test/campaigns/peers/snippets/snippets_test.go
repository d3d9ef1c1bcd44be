package snippets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/yamljson"
	"github.com/keystile/keystile/storage"
)

// applications are those that the code differs for.
var applications = map[string]storage.App{
	"HS256": {}, "ES256": {IDTokenAlg: "ES256"}, "RS256": {IDTokenAlg: "RS256"}, "public": {Public: true},
}

// A program runs the code of a language: it prints where the browser goes, reads the address that it is back at, and
// prints who signed in.
type program struct {
	language string
	build    func(t *testing.T, dir, code string) (command []string) // puts it into a folder
}

var programs = []program{{"curl", buildCurl}, {"Go", buildGo}, {"Node", buildNode}, {"Python", buildPython}}

// Each snippet signs a user in as it is printed, whatever the service is reached by and the id_tokens are signed with.
func TestSnippetsRunAsTheyArePrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	for _, scheme := range []string{"http", "https"} {
		s := start(t, scheme)
		for kind, app := range applications {
			code := s.code(t, s.register(t, app))
			for _, p := range programs {
				t.Run(scheme+"/"+kind+"/"+p.language, func(t *testing.T) { s.runs(t, p, code[p.language]) })
			}
		}
	}
}

func (s *site) runs(t *testing.T, p program, code string) {
	command := p.build(t, t.TempDir(), code)
	if said, err := s.signIn(t, command); err != nil || !strings.Contains(said, s.Sub) {
		t.Fatalf("it ends with %v and says %s\n%s", err, said, code)
	}
	if p.language == "curl" { // which asks userinfo in place of an id_token
		return
	}
	s.forged.Store(true)
	defer s.forged.Store(false)
	if said, err := s.signIn(t, command); err == nil || strings.Contains(said, s.Sub) {
		t.Errorf("it takes a forged id_token, and says %s\n%s", said, code)
	}
}

// signIn runs a program, and is the browser for it.
func (s *site) signIn(t *testing.T, command []string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = filepath.Dir(command[len(command)-1])
	if s.trusted != "" {
		for _, name := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} {
			cmd.Env = append(cmd.Env, name+"="+s.trusted)
		}
	}
	cmd.Env = append(os.Environ(), cmd.Env...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	to, _ := lines.ReadString('\n')
	if to = strings.TrimSpace(to); to != "" {
		address, err := s.browser().Visit(to)
		if err != nil {
			t.Fatalf("%s: %v", to, err)
		}
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if command[0] == "sh" {
			address = at.Query().Get("code")
		}
		io.WriteString(in, address+"\n")
	}
	in.Close()
	rest, _ := io.ReadAll(lines)
	err = cmd.Wait()
	return string(rest) + complaints.String(), err
}

func buildCurl(t *testing.T, dir, code string) []string {
	has(t, "curl", "openssl", "jq")
	return []string{"sh", written(t, dir, "signin.sh", code)}
}

func buildGo(t *testing.T, dir, code string) []string {
	own, err := os.ReadFile("../../../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../../../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(own), "module example.com/app")
	written(t, dir, "go.mod", named)
	written(t, dir, "go.sum", string(sums))
	written(t, dir, "signin/signin.go", code)
	written(t, dir, "main.go", testdata(t, "main.go"))
	program := filepath.Join(dir, "app")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, code)
	}
	return []string{program}
}

func buildNode(t *testing.T, dir, code string) []string {
	has(t, "node")
	modules, err := filepath.Abs("../node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Skip("the libraries are not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	written(t, dir, "signin.mjs", code)
	return []string{"node", written(t, dir, "main.mjs", testdata(t, "main.mjs"))}
}

// python is Debian's interpreter, which has Debian's libraries.
const python = "/usr/bin/python3"

func buildPython(t *testing.T, dir, code string) []string {
	if err := exec.Command(python, "-c", "import authlib, requests").Run(); err != nil {
		t.Skip("python3-authlib and python3-requests are not installed")
	}
	written(t, dir, "signin.py", code)
	return []string{python, "-B", written(t, dir, "main.py", testdata(t, "main.py"))}
}

// The code for PHP is well formed. Its library is not in Debian, so the calls are compared with those of its
// documentation.
func TestCodeForPHPParses(t *testing.T) {
	has(t, "php")
	s := start(t, "http")
	for kind, app := range applications {
		code := s.code(t, s.register(t, app))["PHP"]
		if out, err := exec.Command("php", "-l", written(t, t.TempDir(), "signin.php", code)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", kind, err, out, code)
		}
		for _, call := range []string{
			"GenericProvider([", "'pkceMethod' => 'S256'", "->getAuthorizationUrl([", "->getState()", "->getPkceCode()",
			"->setPkceCode(", "->getAccessToken('authorization_code', ['code' => ", "JWT::decode(",
		} {
			if !strings.Contains(code, call) {
				t.Errorf("%s: no %s in\n%s", kind, call, code)
			}
		}
	}
}

// The settings for Spring Boot are those that its reference has, and their users are told of the algorithm that
// Spring Security does not expect.
func TestSettingsForSpringAreItsOwn(t *testing.T) {
	s := start(t, "http")
	for kind, app := range applications {
		app = s.register(t, app)
		text := s.code(t, app)["Java"]
		raw, err := yamljson.JSON(t.Context(), []byte(text), yamljson.Limits{Bytes: 1 << 20, Depth: 20, Nodes: 1000})
		if err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, text)
		}
		var settings struct {
			Spring struct {
				Security struct {
					OAuth2 struct {
						Client struct {
							Registration map[string]map[string]string
							Provider     map[string]map[string]string
						}
					}
				}
			}
		}
		if err := json.Unmarshal(raw, &settings); err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, raw)
		}
		client := settings.Spring.Security.OAuth2.Client
		is := client.Registration["keystile"]
		if is["client-id"] != app.ID || is["client-secret"] != app.AppKey().Reveal() || is["redirect-uri"] != back ||
			(is["client-authentication-method"] == "none") != app.Public || client.Provider["keystile"]["issuer-uri"] != s.URL {
			t.Errorf("%s: %s", kind, raw)
		}
		if alg := app.SignsIDTokensWith(); strings.Contains(text, "JwtDecoderFactory") == (alg == "RS256") ||
			alg != "RS256" && !strings.Contains(text, "Algorithm."+alg+")") {
			t.Errorf("%s: nothing is said of id_tokens that are signed with %s\n%s", kind, alg, text)
		}
	}
}

func has(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func written(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
