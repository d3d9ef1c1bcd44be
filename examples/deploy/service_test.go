package deploy

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/command"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/serving"
)

// TestMain makes the test binary a keystile, for nodes that are processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv("BE_KEYSTILE") == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv("BE_KEYSTILE")
	storage := command.Bolt()
	storage.Others = []command.Storage{command.Postgres()}
	command.Main(storage)
}

// keystile returns a command line of the program.
func keystile(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	fatal(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	fatal(t, err)
	return string(text)
}

// installed skips a test where a program is not there. In .ci/run all of them are.
func installed(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: apt-get install --no-install-recommends prometheus", program)
	}
}

// startNodes starts a node on a data folder, and one on PostgreSQL and Redis, before an upstream. One path of that
// works and one fails, behind the gateway as behind a tool.
func startNodes(t *testing.T, upstream string) []*node {
	t.Helper()
	shared := []string{"--storage-url", database.WithSchema(t)}
	redis := os.Getenv("KEYSTILE_TEST_REDIS_URL")
	if redis == "" {
		t.Skip(`KEYSTILE_TEST_REDIS_URL is not set: eval "$(.ci/redis start DIR)" starts a server for tests`)
	}
	// A machine that is busy with other tests may be late, and a node that counts alone counts otherwise.
	shared = append(shared, "--redis-url", redis+"?timeout=5s&prefix=deploy-"+rand.Text())
	nodes := []*node{startNode(t, upstream), startNode(t, upstream, shared...)}
	for _, n := range nodes {
		n.register(t, upstream)
	}
	return nodes
}

func startNode(t *testing.T, upstream string, more ...string) *node {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	fatal(t, os.Mkdir(data, 0o700))
	args := append(serving.Args(data, "--admin-listen", "127.0.0.1:0", "--gateway-products", "ai="+upstream,
		"--upstreams-allow-private", "127.0.0.0/8",
		"--trusted-proxies", "127.0.0.1", "--login-lock-failures", "3"), more...)
	server, err := serving.Start(keystile(t, args...))
	fatal(t, err)
	t.Cleanup(server.Kill)
	client, err := serving.NewClient(server.Address, data)
	fatal(t, err)
	t.Cleanup(client.Close)
	fatal(t, client.SignIn())
	return &node{Client: client, server: server, data: data}
}

// node is a serving keystile with somebody who uses it.
type node struct {
	*serving.Client
	server *serving.Server
	data   string
}

const document = `{"openapi":"3.0.0","info":{"title":"Sky","version":"1"},"paths":{
	"/fine/{n}":{"get":{"operationId":"fine","summary":"Works","parameters":[{"name":"n","in":"path","required":true,"schema":{"type":"integer"}}]}},
	"/broken":{"get":{"operationId":"broken","summary":"Fails"}}}}`

// register makes tools of the document, for an application that may call them often.
func (n *node) register(t *testing.T, upstream string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sky.json")
	fatal(t, os.WriteFile(path, []byte(document), 0o600))
	for _, args := range [][]string{
		{"capability", "register", "sky", "--upstream", upstream, "--openapi", path},
		{"app", "set", n.FirstRun.App.ID, "--tier", "enterprise"}, // the others have lower rates
	} {
		if out, err := keystile(t, append(args, "--data", n.data)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
}
