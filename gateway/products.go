package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
)

// Products of protocol 1 that every quota record names.
const (
	ProductIdentity = "identity" // userinfo
	ProductAI       = "ai"
	ProductPayment  = "payment"
	ProductStorage  = "storage"
	ProductMCP      = "mcp" // tools/call
)

// products holds the names that calls are charged to. It does not change once the gateway is made.
type products struct{ names []string } // sorted

var productName = pattern.Lazy(`^[a-z][a-z0-9_-]{0,31}$`)

func (p *products) add(name string) error {
	if name == "" {
		return nil
	}
	if !productName().MatchString(name) {
		return fmt.Errorf("product %q: a name is 1 to 32 of a-z, 0-9, _ and -, and begins with a letter", name)
	}
	if i, there := slices.BinarySearch(p.names, name); !there {
		p.names = slices.Insert(p.names, i, name)
	}
	return nil
}

// check returns an error for a product that calls cannot be charged to; "" means no charge and
// passes.
func (p *products) check(name string) error {
	if name == "" || p.has(name) {
		return nil
	}
	return fmt.Errorf("product %q is none of %s: add it to Config.Products", name, strings.Join(p.all(), ", "))
}

// all returns the names, sorted. They are shared: do not write to them.
func (p *products) all() []string { return p.names }

func (p *products) has(name string) bool {
	_, there := slices.BinarySearch(p.all(), name)
	return there
}
