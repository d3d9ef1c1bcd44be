// Package garbage holds the collector of garbage back while the program starts.
//
// The packages of the program and a start allocate some 10 MB, most of which stays: a runtime that begins to collect at
// 4 MB, as Go's does, marks them again and again for nothing, for a seventh of the processor time of a start. So it
// begins when Collect is called, which a server does when it listens, or when the program has taken 64 MB: a start that
// reads much is collected like any other program. A command that ends soon ends without a collection.
//
// If GOGC is set, nothing is held back, and a GOMEMLIMIT below that bound is the bound. The package imports nothing of
// the module, so that it is initialized before what allocates.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

const most = 64 << 20 // bytes of memory that the runtime takes before it collects by itself

var start = hold(os.Getenv("GOGC"))

// Collect has garbage collected from now on as GOGC and GOMEMLIMIT say.
func Collect() { start.end() }

// pause holds the settings from before the collector was held back.
type pause struct {
	once    sync.Once
	percent int
	limit   int64
}

// hold holds the collector back until end, or until most is reached, if gogc is not set. The collection that the
// limit brings about finds nobody who holds the mark, and by that ends the pause.
func hold(gogc string) *pause {
	if gogc != "" {
		return nil
	}
	p := &pause{percent: debug.SetGCPercent(-1), limit: debug.SetMemoryLimit(-1)}
	debug.SetMemoryLimit(min(p.limit, most))
	runtime.AddCleanup(&mark{p}, (*pause).end, p)
	return p
}

type mark struct{ *pause }

func (p *pause) end() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		debug.SetMemoryLimit(p.limit)
		debug.SetGCPercent(p.percent)
	})
}
