package guides

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// prelude makes of keystile serve one that is ready when the next line begins, and ends with the script.
const prelude = `
set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
keystile() {
  if [ "$1" != serve ]; then "$KEYSTILE" "$@"; return; fi
  exec "$KEYSTILE" "$@" --listen "$ADDRESS" >"$KEYSTILE_DATA.log" 2>&1
}
ready() { curl -s --retry 100 --retry-delay 1 --retry-connrefused --fail "http://$ADDRESS/healthz/ready" >/dev/null; }
`

// A block that is marked sh is run, whole, from the folder of its guide, and behind the first one of its page if it
// starts no service.
func TestScriptsOfTheGuidesRun(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	program, scripts := keystile(t), 0
	for _, p := range guides(t) {
		blocks := p.blocks("sh")
		for i, script := range blocks {
			if scripts++; !strings.Contains(script, "keystile serve") {
				script = blocks[0] + script
			}
			t.Run(fmt.Sprintf("%s-%d", filepath.Base(filepath.Dir(p.path)), i+1), func(t *testing.T) {
				if said, err := run(t, program, p, script); err != nil {
					t.Errorf("%v\n%s", err, said)
				}
			})
		}
	}
	if scripts < 5 {
		t.Errorf("only %d scripts are found", scripts)
	}
}

func TestScriptThatFailsIsNoticed(t *testing.T) {
	p := page{path: "examples/agent/README.md"}
	for _, script := range []string{"false\ntrue\n", "echo '{}' | jq -e .url\n", "keystile lockout list\n",
		"x=$(keystile no such)\n"} {
		if said, err := run(t, keystile(t), p, script); err == nil {
			t.Errorf("%q passes: %s", script, said)
		}
	}
}

// run runs a script in a copy of its folder, of the README in one with the guides. 127.0.0.1:8080 in it is a free
// port here.
func run(t *testing.T, program string, p page, script string) (string, error) {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := at.Addr().String()
	at.Close()
	dir := t.TempDir()
	folder := filepath.Join(dir, "guide")
	from, to := filepath.Dir(p.path), folder
	if from == "." {
		from, to = "examples", filepath.Join(folder, "examples")
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(root, from))); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(prelude)
	for line := range strings.Lines(strings.ReplaceAll(script, "127.0.0.1:8080", address)) {
		text.WriteString(line)
		if strings.HasPrefix(line, "keystile serve") {
			text.WriteString("ready\n")
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", text.String())
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "KEYSTILE="+program, "ADDRESS="+address, "KEYSTILE_DATA="+filepath.Join(dir, "data"))
	said, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "data.log"))
		said = append(said, log...)
	}
	return string(said), err
}
