package command

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// provided returns how many bytes of a text the system has provided memory for.
func provided(t *testing.T, text []byte) (bytes int) {
	t.Helper()
	at, err := strconv.ParseInt(fmt.Sprintf("%p", text), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	defer pages.Close()
	size := os.Getpagesize()
	entries := make([]byte, 8*(len(text)/size))
	if _, err := pages.ReadAt(entries, at/int64(size)*8); err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	for i := 0; i < len(entries); i += 8 {
		if binary.NativeEndian.Uint64(entries[i:])>>63 != 0 {
			bytes += size
		}
	}
	return bytes
}

func TestBallastTakesNoMemoryEvenWhereGarbageWas(t *testing.T) {
	t.Setenv("GOGC", "")
	garbage := make([]byte, 2*ballastSize)
	for i := range garbage {
		garbage[i] = 1
	}
	if n := provided(t, garbage); n < ballastSize {
		t.Fatalf("of what was written %d bytes are provided", n)
	}
	runtime.KeepAlive(garbage)
	garbage = nil
	runtime.GC()
	base := ballast()
	if n := provided(t, base); n > 1<<20 {
		t.Errorf("%d bytes are provided for the ballast, want none", n)
	}
	runtime.KeepAlive(base)
	t.Setenv("GOGC", "100")
	if base := ballast(); base != nil {
		t.Errorf("with GOGC there are %d bytes of ballast", len(base))
	}
}
