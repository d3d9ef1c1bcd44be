package terminal

import (
	"testing"

	"github.com/keystile/keystile/internal/test/pty"
)

func TestATerminalIsOne(t *testing.T) {
	controller, terminal, err := pty.Open()
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	defer controller.Close()
	defer terminal.Close()
	if !Is(terminal) {
		t.Error("it is taken for something else")
	}
}
