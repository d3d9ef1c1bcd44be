package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const program = "github.com/keystile/keystile/cmd/keystile"

// Build builds the keystile of this tree into a folder, with a fault planted in it if one
// is named.
func Build(ctx context.Context, dir, plant string) (string, error) {
	binary := filepath.Join(dir, "keystile")
	args := []string{"build", "-o", binary}
	if plant != "" {
		overlay, err := overlayOf(ctx, dir, plant)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, program)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// overlayOf writes the changed sources of a fault beside the binary, and the list of them
// that go build reads.
func overlayOf(ctx context.Context, dir, plant string) (string, error) {
	i := slices.IndexFunc(Plants, func(p Plant) bool { return p.Name == plant })
	if i < 0 {
		return "", fmt.Errorf("there is no fault %q: there are %s", plant, strings.Join(Names(), ", "))
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", program).Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	texts := map[string]string{}
	for _, c := range Plants[i].changes {
		from := filepath.Join(strings.TrimSpace(string(root)), filepath.FromSlash(c.file))
		if texts[from] == "" {
			text, err := os.ReadFile(from)
			if err != nil {
				return "", err
			}
			texts[from] = string(text)
		}
		if strings.Count(texts[from], c.old) != 1 {
			return "", fmt.Errorf("%s has changed: the fault %s does not fit it any more", c.file, plant)
		}
		texts[from] = strings.Replace(texts[from], c.old, c.new, 1)
	}
	return writeOverlay(dir, texts)
}

func writeOverlay(dir string, texts map[string]string) (string, error) {
	replaced := map[string]string{}
	for from, text := range texts {
		to := filepath.Join(dir, fmt.Sprintf("planted-%d.go", len(replaced)))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[from] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	path := filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, list, 0o600))
}
