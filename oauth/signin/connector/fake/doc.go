// Package fake plays the login providers wx, qq, alipay and douyin on our own machine, for
// trying out and for tests. Nobody proves anything there: whoever opens its pages chooses
// which made-up person to be.
//
//	f, err := fake.New(fake.Config{BaseURL: "http://127.0.0.1:8080"})
//	mux.Handle(fake.Path+"/", f)
//	wx, err := connector.NewWX(f.Configs().WX)
//
// # Choices
//
// It answers as the real ones do, with their content types, their JSONP, their numbers in
// quotes and their error codes, so that what works here has a chance there. What it hands
// out is single-use and lives five minutes as theirs does.
//
// Its people keep their identities from one start to the next; the keys and secrets are
// new at each, and reach the connectors through Configs alone. One of them has no unionid,
// one has it from the second visit on, one has a name that looks like HTML.
//
// It sends browsers back to its own BaseURL only: a fake that lies open must not become a
// way to anywhere else. What it remembers is bounded, the oldest goes first.
//
// The page's policy lets its form lead to any http and https address, because browsers
// hold the whole chain of redirects behind a form against it, and this chain ends at an
// application. The form itself goes nowhere but here.
package fake
