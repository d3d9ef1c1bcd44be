package powercut

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/test/serving"
)

// traced are the calls that change files, or tell that something has reached the disk. The
// ones at the end are not used by this program; they are traced to notice if that changes.
const traced = "openat,write,pwrite64,fdatasync,fsync,ftruncate,fallocate,mmap,renameat,renameat2," +
	"linkat,unlinkat,mkdirat," +
	"writev,pwritev,pwritev2,truncate,sync_file_range,copy_file_range,sendfile,splice,symlinkat,msync"

// Traceable says why programs cannot be traced here, nil if they can.
func Traceable(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "strace", append(flags("/dev/null"), "true")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("strace cannot trace a program here (it is in the package strace, and wants ptrace): %w\n%s", err,
			out)
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

func (r *recorder) serve(ctx context.Context, binary string, args []string) (*serving.Server, error) {
	return serving.Start(r.command(ctx, binary, serving.Args(r.data, args...)...))
}
