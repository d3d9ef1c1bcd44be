package command

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage"
)

// checked holds an answer of storage check, by the names of the findings.
type checked struct {
	code   int
	Safe   bool
	Nodes  int
	Unsafe int
	by     map[string]admin.Finding
}

func checkStorage(t *testing.T, args ...string) (c checked) {
	t.Helper()
	code, out, errs := command(t, "", append([]string{"storage", "check", "--json"}, args...)...)
	var v struct {
		checked
		Findings []struct{ Name, State, Says, Do string }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("storage check %q = %d, %s%s", args, code, out, errs)
	}
	c = v.checked
	c.code, c.by = code, map[string]admin.Finding{}
	for _, f := range v.Findings {
		c.by[f.Name] = admin.Finding{Name: f.Name, State: admin.State(f.State), Says: f.Says, Do: f.Do}
	}
	return c
}

// want checks the state of a finding, and words of it.
func (c checked) want(t *testing.T, name string, state admin.State, words ...string) {
	t.Helper()
	f := c.by[name]
	if f.State != state {
		t.Errorf("%s is %+v, want %s", name, f, state)
	}
	for _, w := range words {
		if !strings.Contains(f.Says+" "+f.Do, w) {
			t.Errorf("%s does not say %q: %+v", name, w, f)
		}
	}
}

// behindBalancer are the flags of a node that is set up well.
var behindBalancer = []string{"--base-url", "https://id.example.com", "--trusted-proxies", "10.0.0.5"}

func privateFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFolderOfOneNodeIsChecked(t *testing.T) {
	t.Parallel()
	data := privateFolder(t)
	c := checkStorage(t, append(slices.Clone(behindBalancer), "--data", data)...)
	if c.code != 0 || !c.Safe || c.Nodes != 1 {
		t.Errorf("a healthy folder is %+v", c)
	}
	for _, name := range []string{"data", "journal", "base_url", "trusted_proxies"} {
		c.want(t, name, admin.Safe)
	}
	c.want(t, "counters", "") // nothing is there
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("the check leaves %v, %v", left, err)
	}
	if _, out, _ := command(t, "", append(slices.Clone(behindBalancer), "storage", "check", "--data",
		data)...); !strings.HasSuffix(out, "Nothing unsafe was found, for 1 node.\n") {
		t.Errorf("a person is told %s", out)
	}
	c = checkStorage(t, append(slices.Clone(behindBalancer), "--data", data, "--nodes", "2")...)
	c.want(t, "store", admin.Unsafe, "2 nodes would have one each", "storage_url=postgres://")
	if c.code != 1 || c.Safe || c.Unsafe != 1 || c.Nodes != 2 {
		t.Errorf("two nodes on a file are %+v", c)
	}
	c = checkStorage(t, "--data", data+"-mistyped")
	c.want(t, "data", admin.Unknown, "there is no data folder")
	if c.code != 3 || c.Safe {
		t.Errorf("what cannot be looked at is %+v", c)
	}
	wantFailure(t, 2, "give the number of nodes", "storage", "check", "--nodes", "many")
	wantFailure(t, 2, "base_url", "storage", "check", "--base-url", "nonsense")
}

func TestCountersOfAFolderAreChecked(t *testing.T) {
	t.Parallel()
	data := privateFolder(t)
	if code, out, errs := command(t, "", "app", "create", "--data", data, "--name", "Shop", "--domain",
		"shop.example"); code != 0 {
		t.Fatalf("app create = %d, %s%s", code, out, errs)
	}
	checkStorage(t, append(slices.Clone(behindBalancer), "--data", data)...).want(t, "counters", admin.Safe,
		"as many users")
}

func TestPersonReadsTheWorstFirst(t *testing.T) {
	t.Parallel()
	code, out, errs := command(t, "", "storage", "check", "--data", privateFolder(t), "--base-url",
		"http://id.example.com", "--nodes", "2")
	if code != 1 || !strings.Contains(errs, "not safe: 3 of 6") || !strings.HasPrefix(out, "unsafe   store\n") ||
		strings.Index(out, "unsafe   base_url") > strings.Index(out, "safe     journal") ||
		!strings.Contains(out, "\n         → TLS at the balancer") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for line := range strings.Lines(out) {
		if len([]rune(line)) > 81 && len(strings.Fields(line)) > 1 {
			t.Errorf("a long line: %s", line)
		}
	}
}

func TestCheckFindsWhatIsNotSafeOnThisMachine(t *testing.T) {
	t.Parallel()
	open := privateFolder(t)
	os.Chmod(open, 0o755)
	checkStorage(t, "--data", open).want(t, "data", admin.Unsafe, "open to other users (mode 0755)", "chmod 700 "+open)
	checkStorage(t, "--data", "/proc/self").want(t, "data", admin.Unsafe, "cannot write")
	for _, c := range []struct {
		args  string
		name  string
		state admin.State
		says  string
	}{
		{"", "base_url", admin.Noted, "only this machine"},
		{"--nodes 2", "base_url", admin.Unsafe, "another issuer"},
		{"--base-url http://id.example.com", "base_url", admin.Unsafe, "can be read on their way"},
		{"--base-url http://127.0.0.1:8080", "base_url", admin.Safe, ""},
		{"--nodes 2", "trusted_proxies", admin.Unsafe, "one address"},
		{"--trusted-proxies 10.0.0.5,0.0.0.0/0", "trusted_proxies", admin.Unsafe, "every address"},
		{"--trusted-proxies ::/0", "trusted_proxies", admin.Unsafe, "every address"},
	} {
		checkStorage(t, append(strings.Fields(c.args), "--data", privateFolder(t))...).want(t, c.name, c.state, c.says)
	}
}

func TestJournalInMemoryIsFound(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/dev/shm", "keystile-check-")
	if err != nil {
		t.Skipf("there is no file system in memory: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := checkStorage(t, "--data", dir)
	c.want(t, "journal", admin.Unsafe, "tmpfs", "in memory", "a disk of the machine")
	if c.code != 1 {
		t.Errorf("it exits %d", c.code)
	}
}

func TestStoreThatIsGoneIsFound(t *testing.T) {
	t.Parallel()
	data := privateFolder(t)
	start(t, data).stop()
	fatal(t, os.Remove(filepath.Join(data, "keystile.db")))
	c := checkStorage(t, "--data", data)
	c.want(t, "store", admin.Unsafe, "the store is gone", "storage forget")
	if c.code != 1 {
		t.Errorf("it exits %d", c.code)
	}
}

func TestStoreThatNodesShareIsChecked(t *testing.T) {
	t.Parallel()
	address, data := database.WithSchema(t), privateFolder(t)
	args := append(slices.Clone(behindBalancer), "--data", data, "--storage-url", address)
	c := checkStorage(t, args...)
	c.want(t, "tables", admin.Noted)
	c.want(t, "master_key", admin.Noted, "there is no store yet")
	if c.code != 0 || c.Nodes != 2 {
		t.Errorf("before the first start: %+v", c)
	}
	s := start(t, data, "--storage-url", address, "--base-url", "http://127.0.0.1")
	defer s.stop()
	c = checkStorage(t, args...) // beside the server
	for name, f := range c.by {
		if f.State != admin.Safe && name != "standby" && name != "redis" {
			t.Errorf("a healthy store: %+v", f)
		}
	}
	c.want(t, "master_key", admin.Safe, "master.key")
	c.want(t, "synchronous_commit", admin.Safe)
	if c.code != 0 || !c.Safe || len(c.by) != 23 {
		t.Errorf("a healthy store is %+v", c)
	}

	args[slices.Index(args, "--data")+1] = privateFolder(t)
	checkStorage(t, args...).want(t, "master_key", admin.Unsafe, "missing")
	other := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(other, []byte(storage.NewMasterKey().Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	c = checkStorage(t, append(args, "--master-key-file", other)...)
	c.want(t, "master_key", admin.Unsafe, "not the one", "does not start")
	if c.code != 1 {
		t.Errorf("another master key exits %d", c.code)
	}
}

func TestDatabaseThatCannotBeLookedIntoIsSaidToBeUnknown(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://u:opensesame@127.0.0.1:1/d",
		"postgres://u:opensesame@127.0.0.1:1/d?timeout=soon"} {
		code, out, errs := command(t, "", append(slices.Clone(behindBalancer), "storage", "check", "--data", privateFolder(t),
			"--storage-url", address)...)
		u, _ := url.Parse(address)
		if want := map[bool]int{true: 3, false: 1}[u.RawQuery == ""]; code != want ||
			strings.Contains(out+errs, "opensesame") || !strings.Contains(out, "connection\n") {
			t.Errorf("%s: %d %s%s", address, code, out, errs)
		}
	}
}
