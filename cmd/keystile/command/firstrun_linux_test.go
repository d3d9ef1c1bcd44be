package command

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/pty"
	"github.com/keystile/keystile/internal/test/said"
)

func TestFirstRunShowsOnATerminalWhatItMade(t *testing.T) {
	t.Parallel()
	controller, terminal, err := pty.Open()
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	defer controller.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	cmd := exec.Command(self, "serve", "--data", data, "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdout = terminal
	log := said.New()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown, ended := said.New(), make(chan struct{})
	go func() { defer close(ended); io.Copy(shown, controller) }() // ends with the process, the terminal's last user
	defer func() { cmd.Process.Kill(); cmd.Wait(); <-ended }()
	shown.Find(t, ended, "Ctrl-C stops it")
	p := firstRunOf(t, data)
	for _, want := range []string{p.Admin.Password, p.App.ClientID, p.App.ClientSecret,
		"-d client_secret=" + p.App.ClientSecret, "first-run.json"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("it does not show %q: %s", want, shown)
		}
	}
	if strings.Contains(log.String(), p.Admin.Password) || strings.Contains(log.String(), p.App.ClientSecret) {
		t.Errorf("a secret is logged: %s", log)
	}
}
