// Package bentclock builds a keystile whose clock is set from outside while it runs, for tests
// of what a wrong clock does to the program as it is shipped.
//
// The program is compiled with a time.Now that adds an offset, which it reads from a file that
// is mapped into its memory. The monotonic reading is left alone, as it is when somebody sets a
// machine's clock: timers, timeouts and durations go on. The changed file is made from the
// installed Go each time (package overlay), and a Go whose time.Now does not fit is an error.
package bentclock

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// variable names the file with the offset to the program. Without it the clock is right. Names
// that begin with KEYSTILE_ belong to the configuration.
const variable = "BENT_CLOCK"

// Build builds the program, with further changes, and returns its path in dir.
func Build(ctx context.Context, dir string, changes ...overlay.Change) (string, error) {
	bent, err := now(ctx)
	if err != nil {
		return "", err
	}
	return overlay.Build(ctx, dir, append(bent, changes...)...)
}

// head holds the beginning of time.Now since Go 1.9; what it calls has had several names.
var head = regexp.MustCompile(`(?m)^func Now\(\) Time \{\n\tsec, nsec, mono := \w+\(\)\n`)

// now replaces time.Now, so that the clock can be bent.
func now(ctx context.Context) ([]overlay.Change, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return nil, err
	}
	found := head.FindAll(text, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("time.Now in %s does not begin as it did: read it, and change package bentclock", source)
	}
	old := string(found[0])
	return []overlay.Change{
		{File: filepath.Join(source, "time.go"), Old: old, New: old + "\tsec += bent()\n"},
		{File: filepath.Join(source, "bent.go"), New: offset},
	}, nil
}

// offset is a file of package time, which may import little.
const offset = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var bentBy = bentFile()

func bentFile() *int64 {
	path, ok := syscall.Getenv("` + variable + `")
	if !ok {
		return nil
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic("` + variable + `: " + err.Error())
	}
	page, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic("` + variable + `: " + err.Error())
	}
	syscall.Close(fd)
	return (*int64)(unsafe.Pointer(&page[0]))
}

func bent() int64 {
	if bentBy == nil {
		return 0
	}
	return atomic.LoadInt64(bentBy)
}
`

// Clock is the clock of programs that are started with its variable.
type Clock struct{ file *os.File }

// New returns a clock that is right. Its file is in dir.
func New(dir string) (*Clock, error) {
	file, err := os.Create(filepath.Join(dir, "clock"))
	if err != nil {
		return nil, err
	}
	c := &Clock{file}
	return c, c.Set(0)
}

// Variable is the environment variable a program is started with.
func (c *Clock) Variable() string { return variable + "=" + c.file.Name() }

// Set has the programs believe that it is so much later, in whole seconds, at once.
func (c *Clock) Set(ahead time.Duration) error {
	var raw [8]byte
	binary.NativeEndian.PutUint64(raw[:], uint64(int64(ahead/time.Second)))
	_, err := c.file.WriteAt(raw[:], 0)
	return err
}

// Close closes the file. Programs that run keep what was set last.
func (c *Clock) Close() error { return c.file.Close() }
