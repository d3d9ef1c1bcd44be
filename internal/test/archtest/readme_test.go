package archtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// embeddings returns what the README shows of the library: the code blocks of "Embed it".
func embeddings(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Embed it\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for {
		_, rest, found := strings.Cut(section, "```go\n")
		if !found {
			break
		}
		block, after, _ := strings.Cut(rest, "```")
		blocks, section = append(blocks, block), after
	}
	if len(blocks) != 2 {
		t.Fatalf("%d embeddings in the README, want 2", len(blocks))
	}
	return blocks
}

// The last line of each block serves, which an example cannot.
func serves(line string) bool {
	return strings.HasPrefix(line, `log.Fatal(http.ListenAndServe("127.0.0.1:8080", `)
}

func TestReadmesEmbeddingsAreTheExamples(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.ReplaceAll(string(source), "\n\t", "\n")
	for i, most := range []int{15, 40} {
		block := embeddings(t)[i]
		lines := 0
		for part := range strings.SplitSeq(block, "\n\n") {
			var shown []string
			for line := range strings.Lines(part) {
				lines++
				if !serves(line) {
					shown = append(shown, line)
				}
			}
			text := strings.Join(shown, "")
			if strings.HasPrefix(text, "func ") {
				text = strings.ReplaceAll(text, "\n\t", "\n")
			}
			if !strings.Contains(examples, strings.TrimSpace(text)) {
				t.Errorf("these lines of the README are in no example of package keystile:\n%s", part)
			}
		}
		if lines > most {
			t.Errorf("embedding %d has %d lines, more than %d", i+1, lines, most)
		}
	}
}

// imports of a host with everything; the compiler refuses those that a program does not use.
var imports = map[string]string{
	"context.": "context", "fmt.": "fmt", "http.": "net/http", "log.": "log", "os.": "os",
	"keystile.": module, "gateway.": module + "/gateway", "mcpbus.": module + "/mcpbus", "oauth.": module + "/oauth",
	"signin.": module + "/oauth/signin", "registry.": module + "/registry", "storage.": module + "/storage",
	"bolt.": module + "/storage/bolt", "memory.": module + "/storage/memory",
}

// A reader can copy programs out of the README, in a module that knows nothing of this one but that
// it requires it.
func TestReadmesEmbeddingsCompileElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	blocks := embeddings(t)
	second, must, _ := strings.Cut(blocks[1], "\nfunc ")
	for name, body := range map[string]string{
		"one handler": "func main() {\n" + blocks[0] + "}\n",
		"the rooms": "func main() {\nctx, backend, masterKey := context.Background(), memory.New(), " +
			"storage.NewMasterKey()\n" + second + "}\n\nfunc " + must,
	} {
		t.Run(name, func(t *testing.T) {
			var program bytes.Buffer
			body += "\nvar hello = http.NotFoundHandler()\n"
			fmt.Fprintln(&program, "package main\n\nimport (")
			for name, path := range imports {
				if strings.Contains(body, name) {
					fmt.Fprintf(&program, "%q\n", path)
				}
			}
			fmt.Fprintln(&program, ")\n\n"+body)
			folder := t.TempDir()
			write := func(name string, data []byte) {
				if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
			if err != nil {
				t.Fatal(err)
			}
			write("main.go", program.Bytes())
			write("go.sum", sums)
			write("go.mod", fmt.Appendf(nil, "module example.com/host\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n",
				module, module, here))
			build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-ldflags=-s -w", "-o",
				filepath.Join(folder, "host"), ".")
			build.Dir = folder
			if said, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, said, program.Bytes())
			}
		})
	}
}
