// Package authn keeps how users authenticate: their sessions, the flows that they have begun, their second
// factors and API keys. It also says who needs a second factor, and what a sign-in says of how it was done.
// Programs use its [Store] by package storage, which names its records as its own.
//
// A user may have an [Authenticator] (one-time codes, RFC 6238), up to 20 [Passkey]s, and [RecoveryCode]s for when
// both are gone. A [Policy] says who needs a factor:
//
//	signin.Config{MFA: authn.Policy{
//		Default: authn.MFAOffered, Roles: map[string]string{storage.RoleAdmin: authn.MFARequired},
//	}}
//
// # Choices
//
// Users who have a factor are asked for it under every policy: lowering a policy must not weaken users who have
// chosen more.
//
// The time step of the last code that was accepted is kept, and no earlier one is accepted: a code is good once.
// Recovery codes are kept as hashes, each with the time at which it was used.
//
// A factor that is required is due after a grace of 14 days from the first sign-in at which it was, so that
// a new policy locks nobody out on the day on which it is set. Less than 0 gives none.
package authn
