package access

import (
	"fmt"
	"slices"
	"time"
)

// maxSubjects bounds each list of an Admission.
const maxSubjects = 200

// Admission says who may use an application. The zero Admission admits everybody.
type Admission struct {
	Allow []string `json:"allow,omitempty"` // subjects: everyone, role:R, user:SUB, group:NAME; none: everyone
	Deny  []string `json:"deny,omitempty"`  // subjects who may not, whatever Allow says
	// Since is when an operator has last said it. A group that was made later is not the one that Allow means.
	Since time.Time `json:"since,omitzero"`
	carried
}

// Check returns what is wrong with an admission; nil is none.
func (a *Admission) Check() error {
	if a == nil {
		return nil
	}
	if err := CheckUsers(a.Allow); err != nil {
		return fmt.Errorf("allow: %w", err)
	}
	if err := CheckUsers(a.Deny); err != nil {
		return fmt.Errorf("deny: %w", err)
	}
	return nil
}

// CheckUsers returns what is wrong with a list of subjects each of which is users.
func CheckUsers(list []string) error {
	if len(list) > maxSubjects {
		return fmt.Errorf("at most %d subjects: make a group of them", maxSubjects)
	}
	for _, text := range list {
		s, err := ParseSubject(text)
		if err != nil {
			return err
		}
		if s.Kind == SubjectApp || s.Kind == SubjectTier {
			return fmt.Errorf("%q is no user: it is everyone, role:R, user:SUB or group:NAME", text)
		}
	}
	return nil
}

// Lists returns both lists as they are shown: an empty Allow is everyone. Neither is nil.
func (a *Admission) Lists() (allow, deny []string) {
	allow, deny = []string{SubjectEveryone}, []string{}
	if a == nil {
		return allow, deny
	}
	if len(a.Allow) > 0 {
		allow = slices.Clone(a.Allow)
	}
	return allow, append(deny, a.Deny...)
}

// NeedsGroups reports whether Admits looks at the groups of a user.
func (a *Admission) NeedsGroups() bool {
	return a != nil && slices.ContainsFunc(slices.Concat(a.Allow, a.Deny), func(text string) bool {
		s, err := ParseSubject(text)
		return err == nil && s.Kind == SubjectGroup
	})
}

// Admits reports whether a user may use an application. Deny wins over Allow. An Allow
// of which no subject is there any more admits nobody.
func (a *Admission) Admits(v Viewer) bool {
	if a == nil {
		return true
	}
	for _, text := range a.Deny {
		if s, err := ParseSubject(text); err != nil || v.is(s, time.Time{}) {
			return false // a subject that cannot be read may be this one
		}
	}
	for _, text := range a.Allow {
		if s, err := ParseSubject(text); err == nil && v.is(s, a.Since) {
			return true
		}
	}
	return len(a.Allow) == 0
}

// is reports whether a subject is, or includes, a user. Of groups, those that were made after since are others; the
// zero time: any group of the name is meant.
func (v Viewer) is(s Subject, since time.Time) bool {
	switch s.Kind {
	case SubjectEveryone:
		return true
	case SubjectRole:
		return s.Name == v.Role
	case SubjectUser:
		return s.Name == v.User
	case SubjectGroup:
		return slices.ContainsFunc(v.Groups, func(g Group) bool {
			return g.Name == s.Name && (since.IsZero() || g.KnownTo(since))
		})
	}
	return false
}

// Clone is a copy that shares no memory with a.
func (a *Admission) Clone() *Admission {
	if a == nil {
		return nil
	}
	c := *a
	c.Allow, c.Deny = slices.Clone(a.Allow), slices.Clone(a.Deny)
	return &c
}
