// Package dpop checks that the sender of a request holds the key that its access token is bound to (DPoP, RFC 9449).
//
// [Read] takes the credentials out of a request, whatever their scheme, and [Credentials.Verify] is the one place that
// decides whether a token may be used in the way that it was sent: a token that is bound to a key takes a proof by that
// key for this very request, any other one none. A [Checker] judges the proofs: those that come with credentials are
// judged where tokens are verified, by [Checker.Admit], those of a token request by [Checker.Key].
//
// # Choices
//
// A proof must have a nonce of ours (RFC 9449 8, 9), always. It says how old a proof is whatever the clock of the
// client says, and it ends what has to be remembered of the proofs that have come (decision 121): those of the last
// five minutes. A process with a store of its own remembers them in memory, and draws the key of its nonces when it
// begins, so that a proof which an earlier process has seen is good for nothing. Processes that share a store share the
// key and write down each proof there, as client assertions are.
//
// Memory is bounded: when it is full, the older half is forgotten, and the nonces that it came with are refused, which
// costs a client one more request and nobody a proof that is good twice.
//
// Headers of proofs are cached: a client sends the same one, with its key, each time. The signature is checked by the
// standard library and not by go-jose, which would read the header once more: a check is the signature and some
// microseconds.
//
// All of a proof is checked before its nonce is, so a client that does something else wrong is told that.
package dpop
