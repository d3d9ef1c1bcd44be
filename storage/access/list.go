package access

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Admission{}.carried, Bundle{}.carried, List{}.carried}

// Kinds of subjects: whom a rule is about.
const (
	SubjectEveryone = "everyone"
	SubjectRole     = "role"  // users of a role
	SubjectUser     = "user"  // one user, by sub
	SubjectApp      = "app"   // an application, acting for itself or for a user
	SubjectTier     = "tier"  // applications of a tier, likewise
	SubjectGroup    = "group" // the members of a group of users
)

// Subject names whom a rule is about: everyone, or one of a kind.
type Subject struct {
	Kind string
	Name string // "" of everyone
}

func (s Subject) String() string {
	if s.Kind == SubjectEveryone {
		return s.Kind
	}
	return s.Kind + ":" + s.Name
}

const maxSubject = 600 // bytes

// The roles of users, and the tiers of applications, that package storage has. A test there
// holds them together: a subject of another role or tier would match nobody without a word.
var (
	roles = []string{"admin", "developer", "auditor"}
	tiers = []string{"free", "white_label", "enterprise"}
)

// ParseSubject reads a subject as it is written: everyone, role:R, user:SUB, group:NAME, app:CLIENT_ID
// or tier:T. Its errors wrap ErrInvalid.
func ParseSubject(text string) (Subject, error) {
	if text == SubjectEveryone {
		return Subject{Kind: SubjectEveryone}, nil
	}
	kind, name, _ := strings.Cut(text, ":")
	s := Subject{kind, name}
	switch {
	case len(text) > maxSubject || !driver.ValidName(text) || strings.ContainsFunc(text,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return s, fmt.Errorf("%w: a subject is 1 to %d bytes of text without space", driver.ErrInvalid, maxSubject)
	case kind == SubjectRole && !slices.Contains(roles, name):
		return s, fmt.Errorf("%w: subject: %q is no role; it is role:admin, role:developer or role:auditor",
			driver.ErrInvalid, text)
	case kind == SubjectTier && !slices.Contains(tiers, name):
		return s, fmt.Errorf("%w: subject: %q is no tier; it is tier:free, tier:white_label or tier:enterprise",
			driver.ErrInvalid, text)
	case kind == SubjectGroup && !IsGroupName(name):
		return s, fmt.Errorf("%w: subject: %q names no group; the name of a group is %s", driver.ErrInvalid, text,
			GroupNameForm)
	case name == "" || !slices.Contains([]string{SubjectRole, SubjectUser, SubjectApp, SubjectTier, SubjectGroup}, kind):
		return s, fmt.Errorf("%w: subject: %q is none of everyone, role:R, user:SUB, group:NAME, app:CLIENT_ID, tier:T",
			driver.ErrInvalid, text)
	}
	return s, nil
}

// Rule lets a subject use tools of a capability, or keeps it from them.
type Rule struct {
	Subject  string   `json:"subject"` // see ParseSubject
	Deny     bool     `json:"deny,omitempty"`
	Tools    []string `json:"tools,omitempty"`     // by name; none: all of the capability, those to come included
	ReadOnly bool     `json:"read_only,omitempty"` // of all of them those alone that change nothing
	Operator bool     `json:"operator,omitempty"`  // an operator has set it, so the owner of the capability does not take it away
}

// Same reports whether two rules decide the same for the same tools, even if different users have set them.
func (r Rule) Same(other Rule) bool {
	return r.Subject == other.Subject && r.Deny == other.Deny && r.ReadOnly == other.ReadOnly &&
		slices.Equal(r.Tools, other.Tools)
}

// List defines who may use the tools of a capability. A rule that denies wins over those
// that allow. The owner, and administrators, need no rule that allows them. Without any
// rule that allows, everybody may use the tools that they might use without a list, except
// those that the list denies.
type List struct {
	Member    string    `json:"member"`
	Rules     []Rule    `json:"rules"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`
	carried
}

// Limits of access lists.
const (
	MaxRules     = 2000 // of one capability
	maxRuleTools = 2000 // that one rule names: as many as a capability has
)

// Check returns the first thing that is wrong with a list, as an ErrInvalid.
func (l List) Check() error {
	if len(l.Rules) > MaxRules {
		return fmt.Errorf("%w: an access list has at most %d rules: use roles or tiers", driver.ErrInvalid, MaxRules)
	}
	for _, r := range l.Rules {
		if _, err := ParseSubject(r.Subject); err != nil {
			return err
		}
		switch {
		case len(r.Tools) > maxRuleTools:
			return fmt.Errorf("%w: a rule names at most %d tools", driver.ErrInvalid, maxRuleTools)
		case len(r.Tools) > 0 && r.ReadOnly:
			return fmt.Errorf("%w: a rule is for named tools or for read-only ones, not for both", driver.ErrInvalid)
		}
		for _, tool := range r.Tools {
			if !toolplan.IsName(tool) {
				return fmt.Errorf("%w: %q cannot be the name of a tool", driver.ErrInvalid, tool)
			}
		}
	}
	return nil
}
