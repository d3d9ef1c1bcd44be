package powercut

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// traced are the calls that change files, or tell that something has reached the disk. The
// ones at the end are not used by this program; they are traced to notice if that changes.
const traced = "openat,write,pwrite64,fdatasync,fsync,ftruncate,renameat,renameat2,linkat,unlinkat,mkdirat," +
	"writev,pwritev,pwritev2,truncate,fallocate,sync_file_range,copy_file_range,sendfile,splice,symlinkat,msync"

// Traceable says why programs cannot be traced here, nil if they can.
func Traceable(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "strace", append(flags("/dev/null"), "true")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("strace cannot trace a program here (it is in the package strace, and wants ptrace): %w\n%s", err, out)
	}
	return nil
}

func flags(into string) []string {
	return []string{"-f", "--seccomp-bpf", "-y", "-xx", "-s", strconv.Itoa(64 << 20),
		"--absolute-timestamps=format:unix,precision:ns", "-e", "trace=" + traced, "-o", into, "--"}
}

// recorder runs programs under strace, all of them below one folder.
type recorder struct {
	root   string // what power cuts happen to
	data   string // the data folder, below root
	dir    string // for the traces
	traces []string
}

func (r *recorder) command(ctx context.Context, binary string, args ...string) *exec.Cmd {
	trace := filepath.Join(r.dir, "trace-"+strconv.Itoa(len(r.traces)))
	r.traces = append(r.traces, trace)
	// The shell says who it is, and becomes the program.
	args = append([]string{"/bin/sh", "-c", `echo "process $$"; exec "$0" "$@"`, binary}, args...)
	return exec.CommandContext(ctx, "strace", append(flags(trace), args...)...)
}

// run runs a command to its end.
func (r *recorder) run(ctx context.Context, binary string, args ...string) (string, error) {
	cmd := r.command(ctx, binary, append(args, "--data", r.data)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("keystile %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	_, said, _ := strings.Cut(string(out), "\n")
	return said, nil
}

// server is a serving keystile, traced or not.
type server struct {
	cmd     *exec.Cmd
	process int // of the program itself
	address string
	log     *head
	ended   chan struct{}
}

// issuer is what every server calls itself: tokens outlive it.
const issuer = "http://127.0.0.1:9"

const patience = time.Minute // for anything that must happen at all

func serveArgs(data string) []string {
	return []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--base-url", issuer, "--log-level", "warn", "--limits-per-ip", "1000000000"}
}

func (r *recorder) serve(ctx context.Context, binary string) (*server, error) {
	return start(r.command(ctx, binary, serveArgs(r.data)...))
}

// start waits until a program says where it listens.
func start(cmd *exec.Cmd) (*server, error) {
	s := &server{cmd: cmd, log: &head{}, ended: make(chan struct{})}
	cmd.Stderr = s.log
	says, speaks, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, err
	}
	cmd.Stdout = speaks
	if err := errors.Join(cmd.Start(), speaks.Close()); err != nil {
		return nil, errors.Join(err, says.Close())
	}
	s.process = cmd.Process.Pid
	go func() { defer close(s.ended); cmd.Wait() }()
	found := make(chan string, 1)
	go s.listen(says, found)
	select {
	case s.address = <-found:
		if s.address != "" {
			return s, nil
		}
		<-s.ended
		return nil, fmt.Errorf("it does not start: %v\n%s", cmd.ProcessState, s.log)
	case <-time.After(patience):
		cmd.Process.Kill()
		<-s.ended
		return nil, fmt.Errorf("it has not started after %v\n%s", patience, s.log)
	}
}

func (s *server) listen(says io.ReadCloser, found chan<- string) {
	defer says.Close()
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "process "); ok {
			s.process, _ = strconv.Atoi(id)
		}
		if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
			found <- strings.TrimSpace(address)
		}
	}
	close(found)
}

// end sends a signal to the program and waits until it, and its tracer, have ended.
func (s *server) end(signal syscall.Signal) error {
	err := syscall.Kill(s.process, signal)
	<-s.ended
	return err
}

// head keeps the beginning of what a program says.
type head struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.Len() < 16<<10 {
		h.text.Write(p)
	}
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
