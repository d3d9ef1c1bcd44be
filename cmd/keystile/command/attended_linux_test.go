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

// typed runs a command with a person at a terminal who answers what it asks, in turn. It returns
// the exit code and everything the terminal shows.
func typed(t *testing.T, dialogue [][2]string, args ...string) (int, string) {
	t.Helper()
	controller, terminal, err := pty.Open()
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	defer controller.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown, ended := said.New(), make(chan struct{})
	go func() { defer close(ended); io.Copy(shown, controller) }()
	for _, turn := range dialogue {
		shown.Find(t, ended, turn[0])
		controller.WriteString(turn[1] + "\n")
	}
	cmd.Wait()
	<-ended
	return cmd.ProcessState.ExitCode(), shown.String()
}

func TestPersonIsAskedBeforeAnApplicationIsRemoved(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	id := must(t, "app", "create", "--data", data, "--name", "A", "--domain", "a.example")["client_id"].(string)
	remove := []string{"app", "delete", id, "--data", data}
	ask := "Remove application " + id + `, and end everything it was granted\? \[y/N\] `
	if code, shown := typed(t, [][2]string{{ask, "n"}}, remove...); code != 1 ||
		!strings.Contains(shown, "keystile: nothing was done") {
		t.Errorf("no = %d %s", code, shown)
	}
	must(t, "app", "show", id, "--data", data)
	if code, shown := typed(t, [][2]string{{ask, "y"}}, remove...); code != 0 || !strings.Contains(shown, "deleted") {
		t.Errorf("yes = %d %s", code, shown)
	}
	for _, more := range [][]string{{"--yes"}, nil} {
		id := must(t, "app", "create", "--data", data, "--name", "A", "--domain", "a.example")["client_id"].(string)
		remove[2] = id
		if more == nil { // what is no terminal has nobody to answer
			must(t, remove...)
		} else if code, shown := typed(t, nil, append(remove, more...)...); code != 0 || strings.Contains(shown, "[y/N]") {
			t.Errorf("%s = %d %s", more, code, shown)
		}
		wantFailure(t, 1, "there is no application", "app", "show", id, "--data", data)
	}
}

func TestPasswordTypedAtATerminalIsAskedForTwice(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	create := []string{"user", "create", "--username", "ada", "--password", "-", "--data", data}
	// The prompt stands there before the terminal stops to show what is typed: the answer waits for it.
	code, shown := typed(t, [][2]string{{"Password: ", "correct horse"}, {"Again: ", "correct mule"}}, create...)
	if code != 1 || !strings.Contains(shown, "the two passwords differ") {
		t.Errorf("two passwords = %d %s", code, shown)
	}
	code, shown = typed(t, [][2]string{{"Password: ", "correct horse"}, {"Again: ", "correct horse"}}, create...)
	if code != 0 || !strings.Contains(shown, "username  ada") {
		t.Errorf("one password = %d %s", code, shown)
	}
}
