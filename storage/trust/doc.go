// Package trust describes issuers whose assertions are redeemed for access tokens (RFC 7523): [Issuer] is a record of
// storage.Store, and an entry of the configuration.
//
// # Choices
//
// An issuer has one use, so that a key which may say who runs a program never says who a user is. Zero values admit the
// least, but for Scopes: what an assertion says of its scope is the bound there.
package trust
