// Package web holds what the pages of sign-in share: forms, links, cookies, failures.
//
// # Choices
//
// The sender can change the hidden field query of a form, so it is not trusted: the answer
// redirects to /oauth/authorize, a scanned code or the account page on our own origin whatever it
// holds, and the brand of a page shown after a failure comes from the application
// it names, looked up and checked with [storage.App.AllowsRedirect] again.
//
// There is no token against cross-site forms: http.CrossOriginProtection refuses them by
// what browsers say about a request, and SameSite=Lax keeps the cookie out of it.
//
// A page carries up to 16 KiB of an authorize request, in the browser. A ticket is stored, also of
// unknown clients, so it holds at most 4 KiB of the request and 256 bytes of the User-Agent, some
// 5 kB in all, mostly below 1 kB; the refusal of a longer request names its longest part.
package web
