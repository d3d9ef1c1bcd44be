package agents

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Visitor visits an address for a program and comes back to it; *Person does.
type Visitor interface {
	VisitFor(address string, program io.Writer) error
}

// Drive runs a program with a client of others in it, and is its browser: the person visits each address that it prints
// as "visit: URL". They come back to the client's own listener; where there is none, the program is told the address
// that they are sent back to. It returns what the program said.
func Drive(t testing.TB, person Visitor, dir string, command []string, env ...string) (said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if address, ok := strings.CutPrefix(lines.Text(), "visit: "); ok {
			if err := person.VisitFor(address, input); err != nil {
				t.Errorf("the browser: %v", err)
				cancel()
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, all.String(), tail(stderr.String(), 4000))
	}
	t.Logf("%s", all.String())
	return all.String()
}

// VisitFor visits an address for a program: the person comes back to the program's own listener, or the program
// is told where the browser is sent.
func (p *Person) VisitFor(address string, program io.Writer) error {
	application, err := p.Visit(address)
	switch {
	case err != nil || application == "": // a page of ours is the end, for a device
		return err
	case strings.HasPrefix(application, "http://"):
		return p.Arrive(application)
	}
	_, err = fmt.Fprintln(program, application)
	return err
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }
