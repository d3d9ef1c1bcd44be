package serving

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// prints is a program that says a text and waits for its end.
func prints(text string, args ...string) *exec.Cmd {
	return exec.Command("/bin/sh", append([]string{"-c", `printf "` + text + `"; exec cat /dev/zero >/dev/null`, "sh"}, args...)...)
}

func start(t *testing.T, cmd *exec.Cmd) *Server {
	t.Helper()
	s, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func TestServerIsReadyWhenItHasPrintedAllAddresses(t *testing.T) {
	s := start(t, prints(`  Listening on  127.0.0.1:1\n`))
	if s.Address != "127.0.0.1:1" || s.Admin != "" {
		t.Errorf("it is at %q and %q", s.Address, s.Admin)
	}
	s = start(t, prints(`  Listening on  127.0.0.1:1\n  Admin listener  http://127.0.0.1:2\n`, "--admin-listen", "127.0.0.1:0"))
	if s.Address != "127.0.0.1:1" || s.Admin != "127.0.0.1:2" {
		t.Errorf("it is at %q and %q", s.Address, s.Admin)
	}
}

func TestProgramThatDoesNotStartSaysWhy(t *testing.T) {
	_, err := Start(exec.Command("/bin/sh", "-c", "echo no such folder >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "no such folder") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("Start() = %v, want its complaint and its exit", err)
	}
}

func TestServerEndsBySignals(t *testing.T) {
	s := start(t, prints(`Listening on 127.0.0.1:1\n`))
	if err := s.End(syscall.SIGTERM); err != nil || !strings.Contains(s.State().String(), "terminated") {
		t.Errorf("End(SIGTERM) = %v, and it has ended by %v", err, s.State())
	}
	s = start(t, prints(`Listening on 127.0.0.1:1\n`))
	s.Kill()
	if !strings.Contains(s.State().String(), "killed") {
		t.Errorf("Kill() ends it by %v", s.State())
	}
	s.Kill() // of one that has ended it is nothing
}

// A tracer is not the program: a signal is for the one that says which process it is.
func TestSignalsMeetTheProgramAndNotItsTracer(t *testing.T) {
	s := start(t, exec.Command("/bin/sh", "-c", `(echo "process $(exec sh -c 'echo $PPID')"; echo "Listening on 127.0.0.1:1"; exec cat /dev/zero >/dev/null); exit 7`))
	if err := s.End(syscall.SIGTERM); err != nil || s.State().ExitCode() != 7 {
		t.Errorf("End(SIGTERM) = %v, and the tracer has ended by %v, want by itself", err, s.State())
	}
}
