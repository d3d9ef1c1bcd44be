// Package federation signs people in by other providers.
//
// # Choices
//
// Signing in at another provider begins by a link: what that makes is nobody's until the
// same browser comes back. Its ticket is used up before the provider is asked, so that of
// two arrivals one goes on. Whoever comes in so for the first time becomes a user, whatever sign-up
// is set to: the operator has opened that door by name. Linking one takes a form of ours and a fresh
// sign-in: by a link, another site could have its own provider's user linked to the visitor.
package federation
