package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// settings returns how garbage is collected.
func settings() (percent int, limit int64) {
	percent = debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

// fresh ends the pause that the package itself began, and puts everything back when the test ends.
func fresh(t *testing.T) {
	Collect()
	percent, limit := settings()
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	debug.SetGCPercent(150)
	debug.SetMemoryLimit(5 << 30)
}

var sink []byte

// cycles returns how often was collected.
func cycles() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// litter allocates garbage.
func litter(bytes int) {
	for ; bytes > 0; bytes -= 64 << 10 {
		sink = make([]byte, 64<<10)
	}
}

func TestNothingIsCollectedBeforeTheBound(t *testing.T) {
	fresh(t)
	runtime.GC()
	debug.FreeOSMemory() // what the tests before it have left counts too
	p := hold("")
	defer p.end()
	before := cycles()
	litter(most / 2)
	if n := cycles() - before; n != 0 {
		t.Errorf("%d collections before half of the bound", n)
	}
}

func TestEndOfTheStartRestoresWhatWasSet(t *testing.T) {
	fresh(t)
	p := hold("")
	if percent, limit := settings(); percent != -1 || limit != most {
		t.Errorf("while it starts: %d %%, at most %d bytes; want no collection below %d", percent, limit, most)
	}
	p.end()
	if percent, limit := settings(); percent != 150 || limit != 5<<30 {
		t.Errorf("afterwards: %d %%, at most %d bytes; want what was set", percent, limit)
	}
	debug.SetGCPercent(90)
	p.end()
	if percent, _ := settings(); percent != 90 {
		t.Errorf("a second end sets %d %%", percent)
	}
}

// A start that reads much may not take memory without end: it is collected, by what was set before.
func TestCollectorComesBackByItselfAtTheBound(t *testing.T) {
	fresh(t)
	before := cycles()
	hold("")
	percent := -1
	for round := 0; percent != 150; round++ {
		if round == 1000 {
			t.Fatalf("%d collections after %d MB of garbage, and the collector is still held back", cycles()-before, round)
		}
		litter(1 << 20)
		runtime.Gosched()
		percent, _ = settings()
	}
	if _, limit := settings(); limit != 5<<30 {
		t.Errorf("the limit is %d bytes, want what was set", limit)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 2*most {
		t.Errorf("%d bytes are taken, want no more than about %d", m.HeapAlloc, most)
	}
}

func TestSettingsOfTheUserAreObeyed(t *testing.T) {
	fresh(t)
	hold("150").end()
	if percent, limit := settings(); percent != 150 || limit != 5<<30 {
		t.Errorf("with GOGC: %d %%, at most %d bytes; want what was set", percent, limit)
	}
	hold("150")
	if percent, limit := settings(); percent != 150 || limit != 5<<30 {
		t.Errorf("with GOGC, while it starts: %d %%, at most %d bytes; want what was set", percent, limit)
	}
	debug.SetMemoryLimit(20 << 20)
	p := hold("")
	if _, limit := settings(); limit != 20<<20 {
		t.Errorf("with a GOMEMLIMIT of 20 MB it is %d bytes while it starts", limit)
	}
	p.end()
	if percent, limit := settings(); percent != 150 || limit != 20<<20 {
		t.Errorf("afterwards: %d %%, at most %d bytes; want what was set", percent, limit)
	}
}
