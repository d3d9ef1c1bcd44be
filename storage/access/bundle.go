package access

import (
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// Bundle is a named selection of tools of several capabilities, for an agent that should
// not see all of them. It grants nothing: a user who may not use a tool does not find it in
// a bundle either.
type Bundle struct {
	Name        string    `json:"name"`
	Label       string    `json:"label,omitempty"`
	Description string    `json:"description,omitempty"`
	Tools       []string  `json:"tools"`           // as on the bus, member__tool, or member__* for all of a capability
	Rules       []Rule    `json:"rules,omitempty"` // who may use it: rules for all of it; see List for what they mean
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Version     int64     `json:"-"`
	carried
}

// Limits of bundles.
const (
	MaxBundles     = 1000
	MaxBundleTools = 1000 // that one bundle names
	maxBundleText  = 1000 // bytes of a label or description
	maxBundleName  = 48   // bytes
	maxBundleRules = 200
)

// IsBundleName reports whether a bundle can have this name: 1 to 48 of A-Z a-z 0-9 _ -.
func IsBundleName(text string) bool { return toolplan.IsMember(text) }

// Knew reports whether a capability has been its owner's since before the bundle was written. One that has not
// has no tools in it: its name may have been somebody else's then.
func (b Bundle) Knew(since time.Time) bool { return !since.After(b.UpdatedAt) }

// Check returns what is wrong with a bundle, as an ErrInvalid.
func (b Bundle) Check() error {
	switch {
	case !IsBundleName(b.Name):
		return fmt.Errorf("%w: the name of a bundle is 1 to %d of A-Z a-z 0-9 _ -", driver.ErrInvalid, maxBundleName)
	case len(b.Label) > maxBundleText || len(b.Description) > maxBundleText:
		return fmt.Errorf("%w: label and description have at most %d bytes", driver.ErrInvalid, maxBundleText)
	case len(b.Tools) == 0 || len(b.Tools) > MaxBundleTools:
		return fmt.Errorf("%w: a bundle names 1 to %d tools", driver.ErrInvalid, MaxBundleTools)
	}
	for _, name := range b.Tools {
		if _, tool, ok := toolplan.SplitName(name); !ok || tool != "*" && !toolplan.IsName(name) {
			return fmt.Errorf("%w: %q is neither member__tool nor member__*", driver.ErrInvalid, name)
		}
	}
	if len(b.Rules) > maxBundleRules {
		return fmt.Errorf("%w: a bundle has at most %d rules: use groups or roles", driver.ErrInvalid, maxBundleRules)
	}
	for _, r := range b.Rules {
		if len(r.Tools) > 0 || r.ReadOnly {
			return fmt.Errorf("%w: a rule of a bundle is for all of it: leave out tools and read_only", driver.ErrInvalid)
		}
	}
	return b.Access().Check()
}

// Access returns the rules of the bundle as a list of a capability has them. Administrators need no rule that allows
// them; without any rule that allows, everybody may use the bundle but those whom a rule denies it.
func (b Bundle) Access() List { return List{Member: b.Name, Rules: b.Rules, UpdatedAt: b.UpdatedAt} }
