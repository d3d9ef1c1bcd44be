// Package demo is a tiny relying party at /demo: a button, the code flow with state, nonce
// and PKCE, and a page with the claims and the next command lines to try.
//
// It is an application like any other, registered in the Store, and uses nothing but the
// provider's HTTP endpoints. Read start.go and callback.go to see what an application does.
//
// # Choices
//
// The token and userinfo requests are answered by the provider's handler in this process,
// through an http.RoundTripper: the demo works behind any proxy, on any port and without
// a name that resolves to itself.
//
// The page that shows an access token says no-store and is framed by a policy without
// scripts, because showing tokens is what a demo does and an application does not.
package demo
