// Package web holds what the pages of sign-in share: forms, links, cookies, failures.
//
// # Choices
//
// The hidden field query of a form is the sender's to change, so nothing in it is believed: the
// answer leads to /oauth/authorize, a scanned code or the account page on our own origin whatever it
// holds, and the brand and the form-action of a page shown after a failure come from the application
// it names, looked up and held against [storage.App.AllowsRedirect] again.
//
// There is no token against cross-site forms: http.CrossOriginProtection refuses them by
// what browsers say about a request, and SameSite=Lax keeps the cookie out of it.
//
// A page carries up to 16 KiB of an authorize request, in the browser. What a stranger begins is
// stored, so a ticket holds at most 4 KiB of the request and 256 bytes of the browser's name, which
// makes some 5 kB in all, mostly below 1 kB; a longer request is refused and told its longest part.
package web
