// Package people shows who may sign in: users, where they are signed in, what they have allowed
// applications, and their API keys. Administrators act, auditors read.
//
// # Choices
//
// A session is named by a hash of the id that it is stored by. That id is itself a hash, of the cookie,
// but it authenticates the forms of its own browser, so no page or answer has it.
//
// Each act that ends something is on the trail with its actor, and the user is told: an administrator whose browser was
// stolen does nothing to a user that stays unseen.
//
// Names of users and applications are cached for a minute. A list reads exactly the names that it lacks,
// in one call: a page of users around them would hold few of them in a large store.
//
// A user is erased in steps that can break off: see package users and storage.Store.EraseUser, which says what
// stays. It is on the trail, by sub and with no name, before anything is removed.
//
// An export has what is stored of a user and no secret: neither hashes of passwords and keys, nor ids
// of sessions. That it was made is on the trail, and its user is told.
package people
