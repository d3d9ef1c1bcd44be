package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// opens matches Go code that gets a connection to somewhere.
var opens = regexp.MustCompile(`netguard\.New\(|http\.(Client|Transport)\{|http\.Default(Client|Transport)\b|http\.(Get|Post|PostForm|Head)\(|new\((net|tls)\.Dialer\)|&?(net|tls)\.Dialer\{|\b(net|tls)\.Dial\w*\(|resp\.Dial\(|pgxpool\.NewWithConfig\(`)

// notServed matches what is no part of the service, what judges a list without dialling, and netguard itself.
var notServed = regexp.MustCompile(`^(\.|examples/|internal/test/)|_test\.go$|/testdata/|^cmd/keystile/internal/admin/client\.go$|^cmd/keystile/command/(health|checkredis)\.go$|^cmd/keystile/internal/systemd/|^cmd/keystile/internal/config/|^internal/netguard/`)

// Code that opens a connection stands in the threat model, with who can cause it, where it leads and by what
// list.
func TestEverythingThatOpensAConnectionIsInTheThreatModel(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	model, err := os.ReadFile(filepath.Join(root, "internal", "protocol", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(model), "\n## Where the service connects to")
	table, _, _ = strings.Cut(table, "\n## ")
	if !found {
		t.Fatal("the threat model has no table of connections")
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9_/]+\\.go)`").FindAllStringSubmatch(table, -1) {
		named[m[1]] = true
	}
	opening := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		path, err = filepath.Rel(root, path)
		if err != nil || notServed.MatchString(filepath.ToSlash(path)) {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if path = filepath.ToSlash(path); err != nil || !opens.Match(text) {
			return err
		}
		if opening++; !named[path] {
			t.Errorf("%s opens connections (%s), and stands nowhere in the table of threats.md: say who can cause it, where "+
				"to and by what list", path, opens.Find(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if opening < 12 {
		t.Errorf("only %d files are found that open connections: the test looks in the wrong place", opening)
	}
}
