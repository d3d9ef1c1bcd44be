// Package connector signs users in by the login providers wx, qq, alipay and douyin (protocol 1,
// login types), by feishu, wecom and dingtalk, which organizations sign their members in with, and by GitHub;
// package oidc by any provider of OpenID Connect.
//
//	wx, err := connector.NewWX(connector.WX{ID: "wx0123456789abcdef", Secret: secret})
//	http.Redirect(w, r, wx.Begin(state, back, false), http.StatusFound)
//	...
//	profile, err := wx.Finish(r.Context(), back, r.URL.Query())
//
// The caller binds state to the browser and checks it before Finish: a connector keeps nothing
// between the two. [ErrDenied], [ErrCode] and [ErrStranger] are for the user; any other error is a [*Trouble],
// for the operator.
//
// A method of a host's own is a [Labelled]; examples/signin has one. GitHub is one too, as the
// protocol has no login type for it.
//
// Each endpoint is a field of the provider's Config, so sandboxes and tests can replace it.
// Package fake implements all of them.
//
// # Choices
//
// An account is found by any of a profile's subjects. A provider gives an identity of its
// own to each application and, if it likes, one that an operator's applications share. The
// shared one may appear years later, so the other is always named too.
//
// Answers are parsed by their content: content types are wrong at three of the first four. A byte
// order mark, JSONP and numbers in quotes are accepted; an answer that should say who somebody is and is no object,
// names nobody, or names another user than the one before it, is refused.
//
// An error of alipay is accepted without a signature, because it signs nobody in, and the gateway
// does not sign its answers to an application that it does not know. Everything else is verified
// with alipay's key, byte for byte, under the one name that was requested.
//
// A user is never kept out by what only decorates them. Once an answer has said who they are, the answer with their
// profile may fail, be late or be unreadable: Profile.Unread says so to the operator, and the nickname comes at
// another sign-in. Control characters and GBK in names, which make an answer no JSON, become blanks and question
// marks. Everything that says who somebody is stays strict: ids, signatures, two answers that name two people, and
// who may use the application. Where the id that an operator's applications share comes with the profile alone
// (douyin), a new user whose profile fails gets an account by the other id; if they have another account by the
// shared one, that is found from the next sign-in on.
//
// An Asker passes on what is asked of a sign-in, where its provider has words for it. OpenID Connect has words for all
// of it, GitHub for the account to take, wx for the language. alipay, qq, douyin, feishu, wecom and dingtalk have none.
// Profile.AuthTime says when the user proved who they are; only OpenID Connect says it.
//
// An unknown gender is "". qq sends male where it knows nothing, and that cannot be distinguished.
//
// The provider's tokens live as long as Finish does. Nothing here needs them again. The one exception
// is wecom's, which is the application's and shared by all its users: it is kept in memory until five
// minutes before its end, requested once for all who wait for it, and renewed once if it was withdrawn.
//
// A user of wecom is a userid, which an administrator gives, and which another corporation may give to
// another person: the subject holds the corporation's id, and the userid in lower case, because case
// does not count there. A person who is not a member comes back with an openid instead and is refused:
// ErrStranger.
//
// feishu takes PKCE. The verifier is derived from the state and the secret, so it is kept nowhere.
//
// Redirects are never followed, whichever client is given: the target would get the secret. Our
// own client ignores the environment's proxies and leaves no connection open after Finish.
//
// An email address never finds an account: anybody who can make a provider name an address would come into the
// account behind it, or wait in an account that its owner will use. It is passed on to applications that ask for
// it, as an unconfirmed one; only the operator, who may trust a provider (TrustEmail), makes more of it.
package connector
