// Package fake implements the login providers wx, qq, alipay, douyin, feishu, wecom and dingtalk, an issuer of
// OpenID Connect and GitHub locally, for demos and tests. It checks no credentials: the browser chooses which
// test user to sign in as.
//
//	f, err := fake.New(fake.Config{BaseURL: "http://127.0.0.1:8080"})
//	mux.Handle(fake.Path+"/", f)
//	wx, err := connector.NewWX(f.Configs().WX)
//
// # Choices
//
// It answers as the real ones do, with their content types, their JSONP, their numbers in
// quotes and their error codes. Its codes are single-use and live five minutes as theirs do.
//
// Its test users keep their identities across restarts; the keys and secrets are new at each
// start, and reach the connectors through Configs alone. One user has no unionid, one has it from
// the second visit on, one has a name that looks like HTML, one has a
// control character in theirs, which is sent as it is; at
// wecom one is no member of the corporation.
//
// The issuer of OpenID Connect makes mistakes when it is asked to: a field fault in the form of its
// page names one of the table in idtoken.go. omar's name is at userinfo alone, and his address is not
// verified.
//
// It redirects to its own BaseURL only: a fake that is reachable must not be an open redirect.
// Its memory is bounded, the oldest entries are dropped first.
//
// The page's policy lets its form lead to any http and https address, because browsers
// check the whole chain of redirects after a form against it, and this chain ends at an
// application. The form itself is sent only here.
package fake
