// Package engine runs the OAuth 2.1 grants on fosite. It is the only package that imports
// fosite, and no fosite type leaves it: what the oauth package sees are storage records
// and [Refusal]s.
//
// fosite decides the protocol's order: which handler runs when, what is compared with what.
// Everything it would store or print is replaced: tokens, storage, PKCE, client authentication,
// responses.
//
// # How a request goes through
//
// Each request carries a unit of work in its context. fosite's many small storage calls
// only read from it and fill it; when fosite is done and every token is minted, the
// engine makes the one atomic call that matters (Issue or Exchange). So nothing is spent before
// everything else is validated, and a lost race is an error of the store.
//
// # What fosite v0.49.0 does that must not reach anyone
//
//   - Its PKCE handler drops the challenge before it has compared it: a wrong verifier
//     followed by none passes. Here the challenge lives and dies with the code.
//   - It ends a family of tokens at a replay before it knows who replays. Here the adapter
//     checks a replay, and returns only "not found" to fosite.
//   - It answers 500 to the loser of a race, demands a state of 8 characters, a scope for
//     refresh tokens, bcrypt for secrets, and accepts Basic authentication.
//   - Its Config fills fields on first use without a lock. All of them are set here.
//
// # Choices
//
// Of a client_credentials request nothing is left to decide once the application is known to be the one
// that it says, and nothing is stored for it: it goes past fosite, which would make sessions and requests
// that nobody reads. A test holds its answers to those of fosite.
//
// The device grant (RFC 8628) does not go through fosite, which has no handler for it: it uses the same
// unit of work, minting and spending as the other grants.
//
// The id_token and revocation are not fosite's: they are short, and its versions store a
// third session per login and end whole families for one access token.
package engine
