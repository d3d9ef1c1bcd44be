// Package claim describes which claims of its own a service or an application adds to what is said of a user: a list of
// [Rule], each a name and where its value comes from. It keeps nothing, and reads nothing but what it is given.
//
//	rules := []claim.Rule{{Claim: "department", From: "attribute:dept", Scope: "profile"}}
//	err := claim.Check(rules)
//	more := claim.Of(rules, claim.InUserInfo, scopes, user)
//
// # Choices
//
// A name that a standard or the protocol has given a meaning is refused, because applications trust it for that
// meaning.
//
// A rule whose value is not there adds no claim, rather than an empty one. The claims of all rules take 4 KiB: from the
// first rule on that does not fit they are left out, so that the same rules say the same each time.
package claim
