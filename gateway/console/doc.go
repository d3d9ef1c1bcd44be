// Package console serves the operators' pages below /console/, and the same for programs below /api/console/:
// applications, orders, users, capabilities, access rules, usage, the audit trail and the service itself.
//
//	c, err := console.New(ctx, console.Config{
//		BaseURL: "https://id.example.com", Store: store, Visitors: signIn, Users: users,
//		Revoker: tokens, Trail: trail, Billing: g.Billing(), ForgetApp: g.Forget,
//	})
//	c.Mount(mux)
//
// # Rights
//
// Administrators do here, with a browser, what the command line does. Other users have their own applications and the
// orders of these, with the role developer or without any; records of others answer as if they were not there. Auditors
// read all that administrators read, and change nothing, not even their own: each of their changes is refused (403). An
// application that an administrator makes is their own unless they name another owner, or none. first_party, disabled,
// owner, tier, allow_http_redirect and forbid_plain are for administrators: from others they are refused (403), even if
// they would change nothing.
//
// # Choices
//
// Only the sign-in cookie gives access. A bearer token is ignored, even next to a cookie: applications hold tokens, and
// must not have an administrator's powers.
//
// Every change requires a sign-in within the last ten minutes; otherwise the answer is 403 with errcode 4031, and a
// page sends its visitor to sign in and asks again. That holds for small changes too, because the fields of a body are
// not known before it is read, and a body is only read from a user who may send it.
//
// Changing the role of a user, or disabling them, ends their sessions and what they granted. One administrator always
// remains: a change that would leave no enabled one is refused, even if two administrators take the role from each
// other at once. The command line may do it. An application that gets another owner takes its orders along.
//
// Every change is on the audit trail before it is answered, with the state before and after and its actor; of a secret
// the trail has the beginning of its hash. The owner is notified, if there is a Notifier.
package console
