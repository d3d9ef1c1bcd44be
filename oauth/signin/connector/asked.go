package connector

import "time"

// Asked holds what is asked of a sign-in: by an application (OpenID Connect Core 3.1.2.1), or by the service itself, of
// a user who has to confirm who they are.
type Asked struct {
	Login         bool          // prompt=login, or max_age=0: the user proves who they are once more
	SelectAccount bool          // prompt=select_account
	MaxAge        time.Duration // of the proof; 0: any
	LoginHint     string        // "": none
	UILocales     string        // "": none
	Email         bool          // the application asks for the address of email
}

// Fresh reports whether a proof is asked for that is no older than something.
func (a Asked) Fresh() bool { return a.Login || a.MaxAge > 0 }
