package mcpcall

import "sync"

// discoveries holds the running discoveries, so that concurrent callers share one.
type discoveries struct {
	mu      sync.Mutex
	running map[discoveryKey]*discovery
}

type discoveryKey struct {
	target [32]byte
	member string
}

type discovery struct {
	done  chan struct{} // closed at the end; the fields below may be read after that
	found Found
	err   error
	over  bool // the discovery was not interrupted by its caller's ctx
}

func newDiscoveries() *discoveries { return &discoveries{running: map[discoveryKey]*discovery{}} }

// join returns the flight of a key, and whether the caller must run it.
func (fs *discoveries) join(key discoveryKey) (f *discovery, mine bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f = fs.running[key]; f != nil {
		return f, false
	}
	f = &discovery{done: make(chan struct{})}
	fs.running[key] = f
	return f, true
}

func (fs *discoveries) end(key discoveryKey, f *discovery) {
	fs.mu.Lock()
	delete(fs.running, key)
	fs.mu.Unlock()
	close(f.done)
}
