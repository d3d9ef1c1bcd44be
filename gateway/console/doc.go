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
// they would change nothing. Administrators make groups of users, and give users attributes. The managers of a group
// add and remove its members, with a role or without any, and do nothing else.
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
// # Design
//
// Each page has this shape: its subject as the heading, at most one filled button (class primary) for the one act
// that it is for, the tabs of the subject, and below them facts, tables and forms in one column.
//
//   - Grid: a navigation of 14.5rem beside a column of at most 80rem. Forms are 40rem wide, tables use the room.
//     Below 60rem the navigation is a menu; below 34rem facts stand below their names.
//   - Type: 24 px headings, 17 px sections, 15 px text, 14 px tables, 12 px at least, in the reader's own font (Inter
//     first). Spacing is a multiple of 4 px. Colours are the tokens of tokens.css and console.css, for light and dark.
//   - An id stands small beside its name, with a button that copies it: View.Named, View.Person, View.App. A field that
//     asks for a user, an application or a capability offers what begins like it (data-pick), and takes names.
//   - A moment is "26 Nov 2026, 11:05", in the reader's zone (View.Time), or in UTC to the second on the trail.
//   - The result of an act is told at the top: green, or amber if its reader should look at something, with a list. It
//     stays until the next page. An error is red, stays with the form and what was typed, and is tied to its field.
//   - An empty list says what it would be for, and links the act that makes one.
//   - An act that cannot be taken back stands alone in a red frame (class dangers), at the end or on a tab, and asks
//     for a name.
//
// Taken from others: one primary act and quiet tables (Linear), ids beside names and secrets that are shown once
// (Stripe), tabs by subject (Zitadel), first steps that stay until they are done (Unkey), forms of one column
// (Pocket ID).
package console
