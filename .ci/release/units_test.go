package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSystemdTakesTheUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"keystile.service", "keystile.socket"} {
		text := strings.ReplaceAll(string(readFile(t, "systemd/"+name)), "/usr/bin/keystile", self) // it has to be there
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	service, socket := filepath.Join(dir, "keystile.service"), filepath.Join(dir, "keystile.socket")
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", service,
		socket).CombinedOutput()
	if err != nil || regexp.MustCompile(`keystile\.(service|socket)`).Match(out) {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=15",
		service).CombinedOutput(); err != nil {
		t.Errorf("its exposure is more than 1.5 of 10: %v: %s", err, out)
	}
}

// The paths and names in the unit are those that the package lays down and the program takes.
func TestUnitsFitThePackage(t *testing.T) {
	service, socket := string(readFile(t, "systemd/keystile.service")), string(readFile(t, "systemd/keystile.socket"))
	for _, line := range []string{
		"Type=notify", "User=keystile", "StateDirectory=keystile", "UMask=0077",
		"LoadCredential=master.key:/etc/keystile/master.key", "Restart=on-failure",
		"ProtectSystem=strict", "NoNewPrivileges=yes", "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service",
		"ExecStart=/usr/bin/keystile serve --config /etc/keystile/keystile.yaml --data /var/lib/keystile --master-key-file " +
			"%d/master.key",
	} {
		if !strings.Contains(service, "\n"+line+"\n") {
			t.Errorf("keystile.service has no %s", line)
		}
	}
	if !strings.Contains(socket, "\nFileDescriptorName=public\n") {
		t.Error("the program would not know what keystile.socket is for")
	}
	// what tests are told
	env := slices.DeleteFunc(os.Environ(), func(line string) bool { return strings.HasPrefix(line, "KEYSTILE_") })
	out, err := run(t.Context(), root, env, "go", "run", "./cmd/keystile", "config", "--config",
		".ci/release/debian/keystile.yaml")
	if err != nil {
		t.Errorf("the program does not take keystile.yaml: %v: %s", err, out)
	}
}
