// Package connector asks the login providers wx, qq, alipay and douyin who somebody is
// (protocol 1, login types).
//
//	wx, err := connector.NewWX(connector.WX{ID: "wx0123456789abcdef", Secret: secret})
//	http.Redirect(w, r, wx.Begin(state, back, false), http.StatusFound)
//	...
//	profile, err := wx.Finish(r.Context(), back, r.URL.Query())
//
// The caller binds state to the browser and looks at it before Finish: a connector keeps
// nothing between the two. [ErrDenied] and [ErrCode] are for the person in front of the
// browser; any other error is a [*Trouble], for the operator.
//
// A method of a host's own is a [Labelled]; examples/signin has one.
//
// Each endpoint is a field of the provider's Config, so that sandboxes and tests stand in
// for the real one. Package fake plays all four.
//
// # Choices
//
// An account is found by any of a profile's subjects. A provider gives an identity of its
// own to each application and, if it likes, one that an operator's applications share. The
// shared one may appear years later, so the other is always named too.
//
// Answers are read by what they hold: content types are wrong at three of the four. A byte
// order mark, JSONP and numbers in quotes are taken; what is no object, or names nobody,
// or names somebody else than the answer before it, is refused.
//
// A refusal of alipay is believed without a signature, because it lets nobody in, and the
// gateway does not sign what it says to an application it cannot recognise. Everything
// else is held against alipay's key, byte for byte, under the one name that was asked for.
//
// An unknown gender is "". qq says male where it knows nothing, and that cannot be told
// apart.
//
// The provider's tokens live as long as Finish does. Nothing here needs them again.
//
// Redirects are never followed, whichever client is given: the next place would get the
// secret. Our own client ignores the environment's proxies and leaves no connection open
// behind Finish.
package connector
