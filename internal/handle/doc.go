// Package handle draws the random texts that clients are given (codes, refresh tokens, cookies,
// invitations, ids), with the key or hash that each is stored by. The texts themselves are stored nowhere.
//
// # Choices
//
// A handle begins with the time of its issue, and so does its key: inserts go to the end of an index, and a
// week of tokens can be dropped together. 192 random bits follow. The id of a grant carries its time too, so that
// an access token, which carries only the id, can be compared with "everything before noon is revoked".
//
// SHA-256 is enough for what is drawn at random: 128 bits and more are not guessed. Passwords have a slow hash of
// their own (oauth/signin/passwords).
//
// API keys have a prefix, a pattern and a checksum, so that scanners find them in code and logs, and a mistyped one
// costs no read. Ids of applications and subs of users begin with different letters, so they are never equal (RFC
// 9700 4.15). An invitation is made of letters and digits that can be read out, and case, hyphens and spaces of it
// do not count.
package handle
