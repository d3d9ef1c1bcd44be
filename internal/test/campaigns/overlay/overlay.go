// Package overlay builds cmd/keystile with some texts of its source changed, for tests that
// need a program other than the one that is shipped: with a fault that another test must find,
// or with a clock that can be bent.
//
// The changes are handed to the compiler (go build -overlay). Nothing is written into the tree,
// so no ordinary build can ever have one. A change whose text is not in its file exactly once
// is an error: it would otherwise go on passing when the source has moved on.
package overlay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Change replaces one text in one file.
type Change struct {
	File string // from the root of the module, or absolute
	Old  string // must be in the file exactly once; "": the file must not be there, and New is all of it
	New  string
}

// Build builds the program with the changes, and returns its path in dir. Without changes that is a link to the
// one that KEYSTILE_BINARY names, if it is set, so that many harnesses share what was built once.
func Build(ctx context.Context, dir string, changes ...Change) (string, error) {
	if built := os.Getenv("KEYSTILE_BINARY"); built != "" && len(changes) == 0 {
		binary := filepath.Join(dir, "keystile")
		return binary, os.Symlink(built, binary)
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "keystile")
	args := []string{"build", "-ldflags=-s -w", "-o", binary} // nobody debugs it
	if len(changes) > 0 {
		list, err := write(dir, root, changes)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", list)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/keystile")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(cmd.Args[1:], " "), err, out)
	}
	return binary, nil
}

// Fits reports what keeps changes from being made, without building anything: a fault that does
// not fit the sources any more would be found by nobody, and not be missed.
func Fits(ctx context.Context, changes ...Change) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	_, err = changed(root, changes)
	return err
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/keystile/keystile").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// changed are the texts of the files with the changes, by their paths.
func changed(root string, changes []Change) (map[string]string, error) {
	texts := map[string]string{}
	for _, c := range changes {
		path := c.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		text, err := c.apply(path, texts)
		if err != nil {
			return nil, err
		}
		texts[path] = text
	}
	return texts, nil
}

// write makes the changed files in dir and returns the list of them as the compiler reads it.
func write(dir, root string, changes []Change) (string, error) {
	texts, err := changed(root, changes)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range texts {
		changed := filepath.Join(dir, "overlay-"+strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = changed
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

func (c Change) apply(path string, texts map[string]string) (string, error) {
	text, changed := texts[path]
	if !changed {
		source, err := os.ReadFile(path)
		switch {
		case c.Old == "" && os.IsNotExist(err):
			return c.New, nil
		case err != nil:
			return "", err
		}
		text = string(source)
	}
	if n := strings.Count(text, c.Old); c.Old == "" || n != 1 {
		return "", fmt.Errorf("%s has %d times the text %q that a test wants to change there: change the test with it", path,
			n, c.Old)
	}
	return strings.Replace(text, c.Old, c.New, 1), nil
}

// Test runs tests of a package with the changes, and returns what they print; an error if they fail, or do not end in
// time.
func Test(ctx context.Context, dir, pkg string, args []string, changes ...Change) (out []byte, err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	list, err := write(dir, root, changes)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-overlay", list, pkg}, args...)...)
	cmd.Dir = root
	return cmd.CombinedOutput()
}
