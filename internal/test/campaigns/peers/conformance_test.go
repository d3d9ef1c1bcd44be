package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/vendordocs"
)

// The conformance suite of MCP has scenarios for authorization servers. Those for servers know no tokens,
// and those named auth/ judge clients.
func TestConformanceSuiteFindsNothingInTheAuthorizationServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	clientsAreInstalled(t, "@modelcontextprotocol/conformance")
	documents := agents.WithVendors(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for way, id := range map[string]func(t *testing.T, site *agents.Site, redirect string) string{
			"registered by itself": registered,
			"document":             func(*testing.T, *agents.Site, string) string { return vendordocs.OpenCode },
		} {
			t.Run(revision+" "+way, func(t *testing.T) {
				site := agents.Start(t, documents)
				port := freePort(t)
				folder := t.TempDir()
				judge(t, agents.NewPerson(site.URL), "authorization", "--url", site.URL, "--spec-version", revision, "--port", port,
					"--client-id", id(t, site, "http://127.0.0.1:"+port+"/callback"), "--resource", site.URL+"/api/mcp",
					"--output-dir", folder)
				checks := readChecks(t, folder)
				for _, id := range []string{"authorization-server-metadata", "authorization-server-metadata-cimd",
					"authorization-code-grant"} {
					if checks[id] != "SUCCESS" {
						t.Errorf("the check %s = %q", id, checks[id])
					}
					delete(checks, id)
				}
				for id, status := range checks {
					if status != "SUCCESS" && status != "INFO" {
						t.Errorf("the check %s = %s", id, status)
					}
				}
			})
		}
	}
}

func registered(t *testing.T, site *agents.Site, redirect string) string {
	t.Helper()
	answer, err := http.Post(site.URL+"/oauth/register", "application/json", strings.NewReader(`{"redirect_uris":["`+redirect+`"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&client); err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("registering = %d, %v", answer.StatusCode, err)
	}
	return client.ID
}

func freePort(t *testing.T) string {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	_, port, _ := net.SplitHostPort(at.Addr().String())
	return port
}

// judge runs the suite and is its browser.
func judge(t *testing.T, person *agents.Person, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node",
		append([]string{"--import", "./conformance.mjs", "node_modules/@modelcontextprotocol/conformance/dist/index.js"},
			args...)...)
	cmd.Dir = "node"
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	address := ""
	for lines := bufio.NewScanner(output); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&said, line)
		if strings.HasPrefix(line, "http") && strings.Contains(line, "/oauth/authorize?") {
			address = line
		}
		if !strings.HasPrefix(line, "Callback server started") { // it prints the address before it listens
			continue
		}
		if err := person.VisitFor(address, nil); err != nil {
			t.Errorf("the browser: %v", err)
			cancel()
		}
	}
	err = cmd.Wait()
	t.Logf("%s", said.String())
	if err != nil {
		t.Errorf("the suite: %v", err)
	}
}

// readChecks reads the files that the suite writes: the status of each check.
func readChecks(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(name) != "checks.json" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var checks []struct{ ID, Status string }
		if err := json.Unmarshal(text, &checks); err != nil {
			return err
		}
		for _, check := range checks {
			all[check.ID] = check.Status
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
