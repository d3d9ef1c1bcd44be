package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/internal/test/released"
)

// hosts are the examples that stand for programs which embed a release. They are kept as they were, in a module of
// their own, so that it shows whether later versions compile and run them unchanged.
var hosts = []string{"embed", "store", "agent", "signin", "selfservice"}

const hostsModule = `// Programs that embed a release, as they were then. Later versions have to compile them unchanged.
module example.com/hosts

go %s

require github.com/keystile/keystile v0.0.0

replace github.com/keystile/keystile => %s
`

// keepHosts copies the hosts into the data of a release.
func keepHosts(ctx context.Context, version string) error {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}} {{.GoVersion}}",
		"github.com/keystile/keystile").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	root, goVersion, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	to := filepath.Join(released.Folder(version), "hosts")
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, host := range hosts {
		if err := copyHost(filepath.Join(root, "examples", host), filepath.Join(to, host)); err != nil {
			return err
		}
	}
	up, err := filepath.Rel(to, root)
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "go.mod"), fmt.Appendf(nil, hostsModule, goVersion, filepath.ToSlash(up)), 0o644)
	}
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "-C", to, "mod", "tidy").CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy in %s: %w\n%s", to, err, out)
	}
	return nil
}

// copyHost copies the files of a folder but those that are for people, and where tests need a browser, the tests.
func copyHost(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(from, "browser_test.go"))
	untested := err == nil
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".md") || untested && strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.MkdirAll(to, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
