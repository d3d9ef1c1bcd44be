// Package token makes and checks the JWTs of the service.
//
// [Keys] are the signing keys: published before they sign, active, published until the
// last token they signed has expired. They sign access tokens (RFC 9068) and id_tokens;
// the typ header keeps the two apart.
//
// [Verifier] says who a bearer token speaks for. It trusts nothing of a token before its
// signature, remembers good tokens by their whole text, and asks a remembered
// token again whatever can have changed: its end, its audience, its key, its revocation.
//
// [Revoked] is the one thing that ends a token early. It is a set in memory beside a feed
// in the store; nodes that share a store run [Revoked.Follow] (decision 69).
//
// Package forgery, below, makes tokens that must be refused, for this and other packages.
//
// # Choices
//
// Tokens are signed by hand and verified by go-jose. Writing a JWS is thirty lines: 1.1
// times the bare ES256 signature, with 8 allocations of our own where go-jose makes 46.
// Reading what others may have written is where a library's scars pay.
//
// ES256 signatures are drawn from the key and the message alone (RFC 6979), as RFC 8725 3.2 wants it
// of tokens: a source of chance that fails cannot give the key away. It also takes a fifth less.
//
// A hit of the cache takes less than half of the SHA-256 of the token, however many ask at once and
// however much is revoked: the token is found by a seeded hash and compared as a whole, no lock is
// taken, and the revocations are searched only if some were added since. That its text stays in memory
// is what it costs: twice as much for each token as its hash did. A miss takes 1.5 times the bare ES256
// check. Bad tokens are not remembered: there is no end of them.
//
// Anything we do not write is refused: other header parameters (and with them crit, jku,
// jwk, x5c), fractions in times, second spellings of a name or of the base64url. Unknown
// claims pass, so that an older node reads the tokens of a newer one. Both values of an
// ECDSA s pass too: other libraries write either in their assertions, and so does Go in our tokens, of which half
// would be refused at an upgrade. The twin of a token is no second one: it has the jti, the end and the grant of
// the first, and revocation never goes by text.
//
// A read of the feed begins with the last revocation that was read before and has not ended, so a
// store that has lost its last writes is noticed by one row that is missing, and by no extra read. A
// revocation that this process has stored and cannot read back is one that is missing too. Then all is
// read anew, and what is known here and not there is stored again, by each node that knows it.
//
// A page that is not full is the last one, so a read of a feed without news is one call.
//
// The set forgets at writing, a few facts for each one added. It needs no goroutine, and
// a set that nobody adds to does not grow.
package token
