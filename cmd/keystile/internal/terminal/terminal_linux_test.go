package terminal

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"golang.org/x/term"

	"github.com/keystile/keystile/internal/test/pty"
)

// open returns the two ends of a terminal.
func open(t *testing.T) (controller, terminal *os.File) {
	t.Helper()
	controller, terminal, err := pty.Open()
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { controller.Close(); terminal.Close() })
	return controller, terminal
}

func TestTerminalIsOne(t *testing.T) {
	if _, terminal := open(t); !Is(terminal) {
		t.Error("it is taken for something else")
	}
}

// That nothing is shown meanwhile is golang.org/x/term's to prove.
func TestPasswordIsReadAndTheTerminalIsAsItWas(t *testing.T) {
	controller, terminal := open(t)
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := controller.WriteString("correct horse\n"); err != nil {
		t.Fatal(err)
	}
	var asked bytes.Buffer
	if line, err := ReadPassword(terminal, &asked, "Password: "); err != nil || line != "correct horse" ||
		asked.String() != "Password: \n" {
		t.Errorf("read %q, %v, asked %q", line, err, asked.String())
	}
	if after, err := term.GetState(int(terminal.Fd())); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal is %v, %v; it was %v", after, err, before)
	}
}
