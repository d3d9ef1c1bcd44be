package mcpcall

import "sync"

// flights holds the running discoveries, so that concurrent callers share one.
type flights struct {
	mu      sync.Mutex
	running map[flightKey]*flight
}

type flightKey struct {
	target [32]byte
	member string
}

type flight struct {
	done  chan struct{} // closed at the end; the fields below may be read after that
	found Found
	err   error
	over  bool // the discovery was not interrupted by its caller's ctx
}

func newFlights() *flights { return &flights{running: map[flightKey]*flight{}} }

// join returns the flight of a key, and whether the caller must run it.
func (fs *flights) join(key flightKey) (f *flight, mine bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f = fs.running[key]; f != nil {
		return f, false
	}
	f = &flight{done: make(chan struct{})}
	fs.running[key] = f
	return f, true
}

func (fs *flights) end(key flightKey, f *flight) {
	fs.mu.Lock()
	delete(fs.running, key)
	fs.mu.Unlock()
	close(f.done)
}
