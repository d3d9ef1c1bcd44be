package mcpcall

import "sync"

// flights are the discoveries under way.
type flights struct {
	mu      sync.Mutex
	running map[flightKey]*flight
}

type flightKey struct {
	target [32]byte
	member string
}

type flight struct {
	done  chan struct{} // closed at the end; what follows is read after that
	found Found
	err   error
	over  bool // the discovery has come to its own end
}

func newFlights() *flights { return &flights{running: map[flightKey]*flight{}} }

// join returns the flight under a key and whether it is the caller's to fly.
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
