package consoleauth

import (
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
)

// Actor is a user of the console. An administrator may do all; an auditor reads all, and changes
// nothing; a developer has their own applications and capabilities, and who has no role their own
// applications.
type Actor struct {
	storage.User
	AuthTime time.Time // when they proved who they are: storage.Session.FreshFrom
	Session  string    // the id of their session

	Multifactor bool // they have proved two factors
	Proved      bool // they have proved what they have: see stepup.Proved
}

// Admin refuses who is no administrator.
func (a Actor) Admin() error {
	if a.Role != storage.RoleAdmin {
		return NotAdmin
	}
	return nil
}

// Reader refuses who may not read what belongs to others: all but administrators and auditors.
func (a Actor) Reader() error {
	if !a.readsAll() {
		return NotReader
	}
	return nil
}

// Developer refuses who may not register: all but administrators and developers.
func (a Actor) Developer() error {
	if a.Role != storage.RoleAdmin && a.Role != storage.RoleDeveloper {
		return NotAllowed
	}
	return nil
}

// Writer refuses auditors, what is their own included. [Guard] asks it of every request that is
// none for reading.
func (a Actor) Writer() error {
	if a.Role == storage.RoleAuditor {
		return ReadsOnly
	}
	return nil
}

// Fresh refuses everybody who has not proved within the last ten minutes what they have (decisions 57 and 91): a
// browser that was left open, a cookie that was stolen, or a password in a trusted browser is not enough.
func (a Actor) Fresh() error {
	if err := a.Proven(); err != nil {
		return err
	}
	if !stepup.Fresh(a.AuthTime, a.Proved, time.Now()) {
		return SignInAgain
	}
	return nil
}

// Proven refuses everybody who has a second factor and has not proved it. [Guard] asks it of every request.
func (a Actor) Proven() error {
	if !a.Proved {
		return FactorFirst
	}
	return nil
}

// Sees reports whether the actor may see the records of an owner, a sub; "" is nobody.
func (a Actor) Sees(owner string) bool { return a.readsAll() || a.owns(owner) }

// Changes reports whether the actor may change them.
func (a Actor) Changes(owner string) bool {
	return a.Role == storage.RoleAdmin || a.Writer() == nil && a.owns(owner)
}

func (a Actor) readsAll() bool {
	return a.Role == storage.RoleAdmin || a.Role == storage.RoleAuditor
}

func (a Actor) owns(owner string) bool { return a.Sub != "" && a.Sub == owner }

// hasRole refuses who has no role for the console. Another role than those that are known, of a
// host's own table, is none.
func (a Actor) hasRole(reads bool) error {
	switch err := a.Developer(); {
	case err == nil, a.Role == storage.RoleAuditor:
		return nil // and what is not for reading takes a Writer
	case reads:
		return NoRole
	default:
		return err
	}
}
