package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
)

// Actor is somebody who acts: a user who is signed in, an application that acts for itself, or the operator at the
// command line. The zero Actor may do nothing.
//
// An administrator may do everything; an auditor reads everything and changes nothing; a developer has their own
// applications and capabilities, and a user without a role their own applications. The things of a group are its
// managers' own.
type Actor struct {
	storage.User // the zero User: the actor is no user

	// Of a session in a browser.
	AuthTime    time.Time // when they proved who they are: storage.Session.FreshFrom
	Session     string    // the id of their session
	Multifactor bool      // they have proved two factors
	Proved      bool      // they have proved what they have: see stepup.Proved

	// Bearer is true of an actor who acts by a token, or by an application's secret, and not by a session: there is no
	// sign-in that could be old. Fresh refuses them all the same; an act that is open to tokens says so itself.
	Bearer bool

	// Manages reports whether the user manages a group, by its name. It is asked of what belongs to a group alone, so
	// that nothing is read for anything else. nil: they manage none.
	Manages func(group string) bool

	Application string // the client_id of an application that acts for itself; "": none
	Operator    string // where the operator acts: "command line, uid 0, host"; "": this is not the operator

	Request Request // through which they act; the zero Request: through none
}

// Request says by which request an actor acts, for the audit trail and for notices.
type Request struct {
	Event event.Event // id, method, path, route and address
	IP    netip.Addr
	Agent string // its User-Agent
}

// RequestOf returns what is said of a request that came from an address.
func RequestOf(r *http.Request, from netip.Addr) Request {
	return Request{reqctx.Event(r, event.Admin, from), from, r.UserAgent()}
}

// CommandLine is the operator who runs a command on this machine: whoever may open the data folder or its socket may
// do everything, without a sign-in.
func CommandLine() Actor {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown host"
	}
	return Operator(fmt.Sprintf("command line, uid %d, %s", os.Getuid(), host))
}

// maxOperator bounds what an operator says of where they act, in bytes.
const maxOperator = 200

// Operator is CommandLine for a command that another process has sent: where is its word for where it was typed, of
// which only what can be printed is kept, and no colon: in a record one ends the actor.
func Operator(where string) Actor {
	where = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == ':' {
			return -1
		}
		return r
	}, where[:min(len(where), maxOperator)])
	return Actor{Operator: cmp.Or(where, "command line")}
}

// Name returns what the audit trail calls the actor: a sub, a client_id or where the operator acts.
func (a Actor) Name() string {
	switch {
	case a.Operator != "":
		return a.Operator
	case a.Sub != "":
		return a.Sub
	}
	return a.Application
}

// Admin refuses everybody but administrators.
func (a Actor) Admin() error {
	if !a.admin() {
		return NotAdmin
	}
	return nil
}

func (a Actor) admin() bool { return a.Role == storage.RoleAdmin || a.Operator != "" }

// Reader refuses actors who may not read what belongs to others: all but administrators and auditors.
func (a Actor) Reader() error {
	if !a.readsAll() {
		return NotReader
	}
	return nil
}

// Developer refuses actors who may not register: all but administrators and developers.
func (a Actor) Developer() error {
	if !a.admin() && a.Role != storage.RoleDeveloper {
		return NotAllowed
	}
	return nil
}

// Writer refuses auditors, what is their own included. The console asks it of every request that is not for reading.
func (a Actor) Writer() error {
	if a.Role == storage.RoleAuditor {
		return ReadsOnly
	}
	return nil
}

// Fresh refuses everybody who has not proved within the last ten minutes what they have (decisions 57 and 91): a
// browser that was left open, a cookie that was stolen, or a password in a trusted browser is not enough. The
// operator has no sign-in that could be old.
func (a Actor) Fresh() error {
	if a.Operator != "" {
		return nil
	}
	if err := a.Proven(); err != nil {
		return err
	}
	if !stepup.Fresh(a.AuthTime, a.Proved, time.Now()) {
		return SignInAgain
	}
	return nil
}

// Proven refuses everybody who has a second factor and has not proved it. The console asks it of every request.
func (a Actor) Proven() error {
	if !a.Proved && a.Operator == "" {
		return FactorFirst
	}
	return nil
}

// Sees reports whether the actor may see the records of an owner: a sub, group:NAME, or "" for nobody.
func (a Actor) Sees(owner string) bool { return a.readsAll() || a.Owns(owner) }

// Changes reports whether the actor may change them.
func (a Actor) Changes(owner string) bool { return a.admin() || a.Writer() == nil && a.Owns(owner) }

func (a Actor) readsAll() bool { return a.admin() || a.Role == storage.RoleAuditor }

// Owns reports whether something is the actor's own, or that of a group they manage, whatever their role is.
func (a Actor) Owns(owner string) bool {
	if group, is := access.OwningGroup(owner); is { // also where a host has a user of that sub
		return a.Sub != "" && a.Manages != nil && a.Manages(group)
	}
	return a.Sub != "" && a.Sub == owner
}

// HasRole refuses users without a role for the console. Another role than those that are known, of a host's own
// table, is none.
func (a Actor) HasRole(reads bool) error {
	switch err := a.Developer(); {
	case err == nil, a.Role == storage.RoleAuditor:
		return nil // and what is not for reading takes a Writer
	case reads:
		return NoRole
	default:
		return err
	}
}
