// Package console lets people who are signed in administer applications, orders and users: /api/console/apps, /api/console/orders and /api/console/users. What the command
// line does on the machine, an administrator does here with a browser, and a developer does
// with applications of their own.
//
//	c, err := console.New(ctx, console.Config{
//		BaseURL: "https://id.example.com", Store: store, Visitors: signIn, Users: users,
//		Revoker: tokens, Trail: trail, Billing: g.Billing(), Forget: g.Forget,
//	})
//	c.Mount(mux)
//
// # Choices
//
// Only the cookie of a sign-in opens this. A bearer token counts for nothing, also beside a
// cookie: tokens are in the hands of applications, and an administrator's powers must not be.
//
// Whoever changes anything has signed in within the last ten minutes; otherwise the answer
// is 403 with errcode 4031, and a page sends its visitor to sign in and asks again. That
// holds for every change, also for those that do little, because which fields are in a body
// is not known before it is read, and the body of somebody who may not is not read.
//
// A developer sees their own applications and the orders of these. What belongs to others
// answers as if it were not there. first_party, disabled, owner, tier, allow_http_redirect
// and forbid_plain are an administrator's to set: a developer who sends one is refused (403),
// also if it would change nothing. An application that an administrator makes is their own
// unless they name another owner, or none.
//
// An application that is given away takes its orders along, so that its former owner neither
// sees them nor takes them back.
//
// Another role, and being disabled, end a user's sessions and what they granted: what was
// begun with other powers does not go on. Somebody stays an administrator: a change that
// would leave nobody who is one and is not disabled is refused, also if two administrators
// take the role from each other at once. The command line is not held to that.
//
// Everything done is on the audit trail before it is answered, with what there was before
// and what there is now, and by whom; a secret by the beginning of its hash. Whose it is
// is told, if a Notifier can.
package console
