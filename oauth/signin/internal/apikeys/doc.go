// Package apikeys serves the page on which users make and revoke their API keys.
//
// # Choices
//
// A key is made after a sign-in of the last ten minutes, since it outlives the session, and is shown
// once, in the answer to the form: no address leads to it, and nothing keeps it. To revoke one takes no
// fresh sign-in: a user who sees a key that is not theirs must be able to act at once. Both are
// notified by email.
//
// A key that could not be written down in the trail is not shown, and removed.
package apikeys
