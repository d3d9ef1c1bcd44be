package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/storage/driver"
)

// Kinds of subjects: whom a rule is about.
const (
	SubjectEveryone = "everyone"
	SubjectRole     = "role" // users of a role
	SubjectUser     = "user" // one user, by sub
	SubjectApp      = "app"  // an application, acting for itself or for a user
	SubjectTier     = "tier" // applications of a tier, likewise
)

// Subject is whom a rule is about: everyone, or one of a kind.
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

// ParseSubject reads a subject as it is written: everyone, role:R, user:SUB, app:CLIENT_ID
// or tier:T. Its errors wrap ErrInvalid.
func ParseSubject(text string) (Subject, error) {
	if text == SubjectEveryone {
		return Subject{Kind: SubjectEveryone}, nil
	}
	kind, name, _ := strings.Cut(text, ":")
	s := Subject{kind, name}
	switch {
	case len(text) > maxSubject || !driver.ValidName(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return s, fmt.Errorf("%w: a subject is 1 to %d bytes of text without space", ErrInvalid, maxSubject)
	case kind == SubjectRole && name != RoleAdmin && name != RoleDeveloper:
		return s, fmt.Errorf("%w: subject: %q is no role; it is role:admin or role:developer", ErrInvalid, text)
	case kind == SubjectTier && !IsTier(name):
		return s, fmt.Errorf("%w: subject: %q is no tier; it is tier:free, tier:white_label or tier:enterprise", ErrInvalid, text)
	case name == "" || !slices.Contains([]string{SubjectRole, SubjectUser, SubjectApp, SubjectTier}, kind):
		return s, fmt.Errorf("%w: subject: %q is none of everyone, role:R, user:SUB, app:CLIENT_ID, tier:T", ErrInvalid, text)
	}
	return s, nil
}

// AccessRule lets a subject use tools of a capability, or keeps it from them.
type AccessRule struct {
	Subject  string   `json:"subject"` // see ParseSubject
	Deny     bool     `json:"deny,omitempty"`
	Tools    []string `json:"tools,omitempty"`     // by name; none: all of the capability, those to come included
	ReadOnly bool     `json:"read_only,omitempty"` // of all of them those alone that change nothing
}

// Same reports whether two rules say the same of the same tools.
func (r AccessRule) Same(other AccessRule) bool {
	return r.Subject == other.Subject && r.Deny == other.Deny && r.ReadOnly == other.ReadOnly && slices.Equal(r.Tools, other.Tools)
}

// AccessList says who may use the tools of a capability. A rule that denies wins over those
// that allow. The owner, and administrators, need no rule that allows them. Without any
// rule that allows, everybody may use what they might without a list, but for what the
// list denies.
type AccessList struct {
	Member    string       `json:"member"`
	Rules     []AccessRule `json:"rules"`
	UpdatedAt time.Time    `json:"updated_at"`
	Version   int64        `json:"-"`
	carried
}

// Limits of access lists.
const (
	MaxAccessRules = 2000 // of one capability
	maxRuleTools   = 2000 // that one rule names: as many as a capability has
)

var accessLists = kind[AccessList]{
	name:    "access",
	id:      func(l AccessList) string { return l.Member },
	index:   func(AccessList) []string { return []string{"all"} },
	version: func(l *AccessList) *int64 { return &l.Version },
}

func (l AccessList) check() error {
	if len(l.Rules) > MaxAccessRules {
		return fmt.Errorf("%w: an access list has at most %d rules: use roles or tiers", ErrInvalid, MaxAccessRules)
	}
	for _, r := range l.Rules {
		if _, err := ParseSubject(r.Subject); err != nil {
			return err
		}
		switch {
		case len(r.Tools) > maxRuleTools:
			return fmt.Errorf("%w: a rule names at most %d tools", ErrInvalid, maxRuleTools)
		case len(r.Tools) > 0 && r.ReadOnly:
			return fmt.Errorf("%w: a rule is for named tools or for read-only ones, not for both", ErrInvalid)
		}
		for _, tool := range r.Tools {
			if !isToolName(tool) {
				return fmt.Errorf("%w: %q cannot be the name of a tool", ErrInvalid, tool)
			}
		}
	}
	return nil
}

// isToolName reports whether a text is 1 to 64 of A-Z a-z 0-9 _ -.
func isToolName(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// Access returns the access list of a capability, one without rules if there is none.
func (s *Store) Access(ctx context.Context, member string) (AccessList, error) {
	l, err := accessLists.get(ctx, s, member)
	if errors.Is(err, ErrNotFound) {
		return AccessList{Member: member}, nil
	}
	return l, err
}

// AccessLists returns a page of all access lists.
func (s *Store) AccessLists(ctx context.Context, from string, n int) ([]AccessList, string, error) {
	span := driver.Is("all")
	if from != "" {
		span.From = from
	}
	return accessLists.list(ctx, s, span, n)
}

// SaveAccess writes the access list of a capability, which must be there, or else it is
// ErrNotFound. A list without rules is removed. One that somebody else has written since it
// was read is ErrConflict.
func (s *Store) SaveAccess(ctx context.Context, l AccessList) (AccessList, error) {
	if err := l.check(); err != nil {
		return l, err
	}
	if _, err := capabilities.get(ctx, s, l.Member); err != nil {
		return l, err
	}
	if len(l.Rules) == 0 {
		if l.Version == 0 {
			return l, nil
		}
		err := accessLists.remove(ctx, s, l)
		l.Version = 0
		return l, err
	}
	if err := s.need(ctx, toolAccess); err != nil {
		return l, err
	}
	l.UpdatedAt = time.Now().UTC()
	l, err := accessLists.put(ctx, s, l)
	if errors.Is(err, ErrExists) {
		err = ErrConflict
	}
	return l, err
}

// withoutAccess returns the removal of a capability's access list, if it has one. It is
// written with a capability that begins or ends, so that nobody who takes its name later
// inherits the list.
func (s *Store) withoutAccess(ctx context.Context, member string) ([]driver.Doc, error) {
	l, err := accessLists.get(ctx, s, member)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []driver.Doc{{Kind: accessLists.name, ID: member, Version: l.Version, Deleted: true}}, nil
}
