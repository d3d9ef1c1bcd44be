package event

import (
	"net/netip"
	"time"
)

// Kinds of notices.
const (
	NoticeSignIn       = "sign-in" // a browser that has not been seen before
	NoticeSignInMethod = "way-in"  // a way to sign in was added or removed
	NoticeAccount      = "account" // the password or the email address was changed
	NoticeSecret       = "secret"  // an application's secret was rotated or shown
	NoticeApp          = "app"     // an application's hosts or redirect_uris were changed, or it was deleted
	NoticeDeleted      = "deleted" // the account was deleted by its owner
	NoticeRole         = "role"    // the user's role was changed, or they were disabled
	NoticeTools        = "tools"   // the upstream of a capability has changed tools, which are held
)

// Notice tells a user of a change to their account or applications, so that they can act
// if somebody else made it. It holds no secret.
type Notice struct {
	Kind string
	App  string // name of the application it is about; "": none

	Capability string // name of the capability it is about; "": none

	Detail string     // in a few words, what was done: "secret rotated"
	At     time.Time  // when it was done
	IP     netip.Addr // from which address; the zero Addr: unknown
	Agent  string     // User-Agent of the request; it is shown as a browser's name, never as it is
}
