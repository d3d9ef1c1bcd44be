// Package console lets signed-in users administer applications, orders and users:
// /api/console/apps, /api/console/orders and /api/console/users. Administrators do here, with a
// browser, what the command line does; everybody else does it with their own applications, and auditors
// read all of it. Which processes
// serve from the store is at /api/console/nodes, and which applications nobody registered at
// /api/console/clients: who trusts or denies them does that on the command line.
//
//	c, err := console.New(ctx, console.Config{
//		BaseURL: "https://id.example.com", Store: store, Visitors: signIn, Users: users,
//		Revoker: tokens, Trail: trail, Billing: g.Billing(), ForgetApp: g.Forget,
//	})
//	c.Mount(mux)
//
// # Choices
//
// Only the sign-in cookie gives access. A bearer token is ignored, even next to a cookie:
// applications hold tokens, and must not have an administrator's powers.
//
// Every change requires a sign-in within the last ten minutes; otherwise the answer is 403
// with errcode 4031, and a page sends its visitor to sign in and asks again. That holds for
// small changes too, because the fields of a body are not known before it is read, and a
// body is only read from a user who may send it.
//
// Who is signed in has their own applications and the orders of these, with the role developer
// or without any. What belongs to others answers as if it were not there. An auditor reads all that an administrator
// reads, and changes nothing, what is their own included: every request that is not for reading is
// refused (403), also one that would change nothing. first_party, disabled, owner, tier, allow_http_redirect
// and forbid_plain are an administrator's to set: who sends one otherwise is refused (403),
// also if it would change nothing. An application that an administrator makes is their own
// unless they name another owner, or none.
//
// An application that gets another owner takes its orders along, so that its former owner
// neither sees nor cancels them.
//
// Changing the role of a user, or disabling them, ends their sessions and what they
// granted. One administrator always remains: a change that would leave no enabled one is
// refused, even if two administrators take the role from each other at once. The command
// line may do it.
//
// Every change is on the audit trail before it is answered, with the state before and
// after, and who made it; a secret is shown by the beginning of its hash. The owner is
// notified, if there is a Notifier.
package console
