package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// Whom a way in makes a user of.
const (
	SignUpClosed     = "closed"     // nobody: it lets in those who are users already
	SignUpInvitation = "invitation" // anybody who brings the code of a storage.Invitation
	SignUpOpen       = "open"       // anybody
)

// Values of storage.SettingDefaultAccess: the callers that may use a tool without an access list.
const (
	DefaultEveryone = "everyone"
	DefaultOwner    = "owner" // the owner of its capability, and administrators
)

// OwnUsers is the Method of the Way that a host's own users come through: a table that others write to.
const OwnUsers = "users"

// Way is one way in, and whom it makes a user of.
type Way struct {
	Method string `json:"method"` // self, email, the Name of a connector, or OwnUsers
	SignUp string `json:"signup"` // SignUpClosed, SignUpInvitation or SignUpOpen
}

// Ways are all ways in of a service. It is computed once, by signin.Config, and whatever depends on who may
// become a user asks it. Nil is a service of which nothing is known: nobody has said that a way is closed.
type Ways []Way

// Open returns the methods by which a stranger becomes a user without anybody's help.
func (w Ways) Open() []string { return w.methods(SignUpOpen) }

// Invited returns the methods whose pages ask for the code of an invitation.
func (w Ways) Invited() []string { return w.methods(SignUpInvitation) }

func (w Ways) methods(signUp string) (all []string) {
	for _, way := range w {
		if way.SignUp == signUp {
			all = append(all, way.Method)
		}
	}
	return all
}

// Methods returns the methods that the sign-in page offers, in its order.
func (w Ways) Methods() (all []string) {
	for _, way := range w {
		if way.Method != OwnUsers {
			all = append(all, way.Method)
		}
	}
	return all
}

// Of returns whom a method makes a user of; SignUpClosed of one that is none of the Ways.
func (w Ways) Of(method string) string {
	if i := slices.IndexFunc(w, func(way Way) bool { return way.Method == method }); i >= 0 {
		return w[i].SignUp
	}
	return SignUpClosed
}

// SignUp returns what holds of the way that is open widest.
func (w Ways) SignUp() string {
	switch {
	case len(w.Open()) > 0:
		return SignUpOpen
	case len(w.Invited()) > 0:
		return SignUpInvitation
	}
	return SignUpClosed
}

// Default returns who may use a tool without an access list where no setting says so: DefaultEveryone if
// all Ways are known and closed, so that every user was made by an operator, else DefaultOwner.
func (w Ways) Default() string {
	if len(w) > 0 && w.SignUp() == SignUpClosed {
		return DefaultEveryone
	}
	return DefaultOwner
}

// NotClosed returns the ways by which people become users.
func (w Ways) NotClosed() Ways {
	all := Ways{}
	for _, way := range w {
		if way.SignUp != SignUpClosed {
			all = append(all, way)
		}
	}
	return all
}

// String lists them, such as "github (open), self (invitation)".
func (w Ways) String() string {
	all := make([]string, len(w))
	for i, way := range w {
		all[i] = fmt.Sprintf("%s (%s)", way.Method, way.SignUp)
	}
	return strings.Join(all, ", ")
}

// CheckInvitation returns a driver.ErrInvalid that says what to do where no page takes an invitation.
func (w Ways) CheckInvitation() error {
	switch {
	case len(w.Invited()) > 0:
		return nil
	case len(w.Open()) > 0:
		return fmt.Errorf("%w: no page takes an invitation, because anybody may become a user: send them to the sign-in "+
			"page, and give them a role once they are users", driver.ErrInvalid)
	}
	return fmt.Errorf("%w: no page takes an invitation, because sign-up is closed: set signup to invitation, or make a "+
		"user with a password", driver.ErrInvalid)
}
