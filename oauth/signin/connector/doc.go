// Package connector signs users in by the login providers wx, qq, alipay and douyin (protocol 1, login types),
// by feishu, wecom and dingtalk, with which organizations sign in their members, and by GitHub; package oidc by
// any provider of OpenID Connect.
//
//	wx, err := connector.NewWX(connector.WX{ID: "wx0123456789abcdef", Secret: secret})
//	to, err := wx.Begin(r.Context(), connector.Visit{State: state, Back: back})
//	http.Redirect(w, r, to, http.StatusFound)
//	...
//	profile, err := wx.Finish(r.Context(), back, r.URL.Query())
//
// The caller binds state to the browser and checks it before Finish: a connector keeps nothing between the two.
// [ErrDenied], [ErrCode] and [ErrStranger] are for the user; any other error is a [*Trouble], for the operator.
//
// A method of a host's own has a Label; examples/signin has one. GitHub has one too, as the protocol has no
// login type for it. Each endpoint is a field of the provider's Config, so sandboxes and tests can replace it.
// Package fake implements all of them.
//
// # Choices
//
// An email address never finds an account: anybody who can make a provider name an address would come into the
// account behind it, or wait in an account that its owner will use. It is passed on to applications that ask
// for it, as an unconfirmed one; only the operator, who may trust a provider (TrustEmail), makes more of it.
//
// The provider's tokens live as long as Finish does: nothing here needs them again. Redirects are never
// followed, whatever client is given: the target would get the secret. The default client ignores the
// environment's proxies and leaves no connection open after Finish.
package connector
