package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Proof says how a user has authenticated.
type Proof struct {
	Method string    // a login type, or the name of a host's own method
	AMR    string    // RFC 8176, separated by spaces; "": it is not known, as of another provider
	At     time.Time // zero: now

	// These three are about another provider, which may have let in a person who proved who they are long before:
	Unsaid  bool // it does not say when that was; At is when they came from there
	Alone   bool // and they have no other way to prove it
	Settled bool // what an application has asked of the sign-in is met, whenever it was

	// A session that another one has vouched for is never more than that:
	From  string    // the storage.Session.SIDRoot of the session whose user has confirmed this sign-in; "": none
	Until time.Time // when the other one ends, and so does this; zero: it has a whole life of its own
}

// Password is the proof of a user who has typed their password.
var Password = Proof{Method: storage.LoginSelf, AMR: authn.AMRPassword}

// EmailCode is the proof of a user who has typed a code that was sent to their address.
var EmailCode = Proof{Method: storage.LoginEmail, AMR: authn.AMRCode}

// ProofOf returns the proof that a session began with. A session that begins with it ends when the first session
// would have ended: the user has not proved all of it again.
func ProofOf(v storage.Session) Proof {
	return Proof{Method: cmp.Or(v.Method, v.LoginType), AMR: v.AMR, At: v.AuthTime, From: v.From, Until: v.EndsAt,
		Unsaid: v.Unsaid, Alone: v.Alone}
}

// HandedOn returns the proof of a user who has confirmed a sign-in elsewhere in a session: no later than theirs, for no
// longer, and for as long as theirs is there. A second factor is handed on for as long as it is fresh. Later it
// has to be proved where the sign-in is: a cookie that was stolen would make sessions with it otherwise.
func HandedOn(v storage.Session) Proof {
	p := ProofOf(v)
	if p.From = v.SIDRoot(); v.Multifactor() && !stepup.Fresh(v.FreshFrom(), v.Multifactor(), time.Now()) {
		p.AMR, _, _ = strings.Cut(p.AMR, " ")
	}
	return p
}

// Time returns when the user authenticated.
func (p Proof) Time() time.Time {
	if p.At.IsZero() {
		return time.Now()
	}
	return p.At
}

// RecentAt reports whether the user had authenticated a short time before. It is about a proof that no session has
// begun with yet, and asks for no factor: see flow.Steps.VisitFresh for what a session may do.
func (p Proof) RecentAt(at time.Time) bool {
	return (!p.Unsaid || p.Alone) && stepup.Fresh(p.Time(), true, at)
}

// Multifactor reports whether the user has proved more than one factor.
func (p Proof) Multifactor() bool {
	return slices.Contains(strings.Fields(p.AMR), authn.AMRMultifactor)
}

// With returns the proof of a user who has proved a second factor too, in these ways.
func (p Proof) With(amr ...string) Proof {
	var all []string
	for _, method := range slices.Concat(strings.Fields(p.AMR), amr, []string{authn.AMRMultifactor}) {
		if !slices.Contains(all, method) {
			all = append(all, method)
		}
	}
	p.AMR = strings.Join(all, " ")
	return p
}
