package gateway

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// Products of spec 1 that every quota record names.
const (
	Identity = "identity" // userinfo
	AI       = "ai"
	Payment  = "payment"
	Storage  = "storage"
	MCP      = "mcp" // tools/call
)

// products is what calls are charged to.
type products struct {
	mu    sync.RWMutex
	names []string // sorted
}

var productName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

func (p *products) add(name string) error {
	if name == "" {
		return nil
	}
	if !productName.MatchString(name) {
		return fmt.Errorf("product %q: a name is 1 to 32 of a-z, 0-9, _ and -, and begins with a letter", name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, there := slices.BinarySearch(p.names, name); !there {
		p.names = slices.Insert(slices.Clone(p.names), i, name)
	}
	return nil
}

// all returns the names, sorted. They are shared: do not write to them.
func (p *products) all() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.names
}

func (p *products) has(name string) bool {
	_, there := slices.BinarySearch(p.all(), name)
	return there
}
