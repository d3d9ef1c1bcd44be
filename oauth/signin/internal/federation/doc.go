// Package federation signs people in by other providers.
//
// # Choices
//
// Signing in at another provider begins by a link: its ticket belongs to nobody until the same
// browser comes back. The ticket is used up before the request to the provider, so that of two
// returns one goes on. Whether somebody new becomes a user is what Config.Ways says of the provider: its ticket and
// profile then wait, for the ten minutes of a visit, until the same browser brings the code of an invitation; nobody
// has to go to the provider twice. Linking a provider takes our own form and a recent sign-in: by a link,
// another site could link its own account at the provider to the visitor.
package federation
