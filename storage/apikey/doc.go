// Package apikey describes the API keys of users: bearer texts that a user makes for programs of
// their own, which cannot sign in. It keeps nothing: storage.Store does.
//
// A [Key] is found by the hash of its text (handle.Hash), which alone is stored. It lasts 90 days unless
// its user chooses otherwise, a year at most, and a user has 20 at once.
//
// # Choices
//
// The code that makes keys decides what its scope may hold: tools and identity, and never the
// management of applications.
//
// Every key that is made is written with the [Fence] of its user, and so is the end of all of them: of a key and
// a sign-out everywhere at the same moment one is first, and no key escapes.
//
// UsedAt is exact to the hour: a write for each use would cost more than the use.
package apikey
