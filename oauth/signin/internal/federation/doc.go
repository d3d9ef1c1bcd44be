// Package federation signs people in by other providers.
//
// # Choices
//
// Signing in at another provider begins by a link: its ticket belongs to nobody until the same
// browser comes back. The ticket is used up before the request to the provider, so that of two
// returns one goes on. Whether a new person becomes a user is what Config.Ways says of the provider: its ticket and
// profile then wait, for the ten minutes of a visit, until the same browser brings the code of an invitation; nobody
// has to go to the provider twice. Linking a provider takes our own form and a recent sign-in: by a link,
// another site could link its own account at the provider to the visitor.
//
// A provider may let a person in by a session of long ago. The provider is asked for what an application asks of the
// sign-in (prompt=login, max_age), and has to prove it by the time that it tells: else the application is told
// login_required, and nobody is signed in. A session that nobody has asked anything of is as old as the provider says.
// Where the provider says nothing, the session has no age: it meets no max_age, its id_token has no auth_time, and it
// is not fresh for decision 57, unless its user has neither a password, a passkey nor a code by email: a user who has
// nothing else would never be able to change or delete their account. A user who confirms that it is they at a provider
// that proves nothing is told to choose another way.
package federation
