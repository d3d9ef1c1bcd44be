// Package forgery makes access tokens that must be refused, for tests.
//
// [All] is handed what only the service itself has, its private signing keys, because the
// instructive forgeries are those with a good signature: an id_token, a token of another
// audience, one with two subjects. Each differs from [Genuine] in one thing, so a test
// that first sees Genuine accepted knows that each refusal has its reason.
//
// Over HTTP a forgery goes into an Authorization header, "Bearer " in front. The answer is
// 401, or 431 where a server keeps headers shorter. A few do not arrive as they are if
// they go through a real connection, see [Forgery.Sendable].
//
// # Choices
//
// Everything is forged by hand with the standard library: a JOSE library would refuse to
// write most of these, and nothing here shares code with what is under test.
package forgery
