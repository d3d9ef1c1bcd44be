// Package federation signs people in by other providers.
//
// # Choices
//
// Signing in at another provider begins by a link: its ticket belongs to nobody until the same
// browser comes back. The ticket is used up before the request to the provider, so that of two
// returns one goes on. A new user gets an account, whatever Config.SignUp says: the operator has
// configured the provider. Linking a provider takes our own form and a recent sign-in: by a link,
// another site could link its own account at the provider to the visitor.
package federation
