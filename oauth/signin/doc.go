// Package signin signs people in: the sign-in page, the session behind the cookie open_sso_token,
// the account page.
//
//	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens})
//	signIn.Mount(mux) // /oauth/signin, /oauth/account, /oauth/device
//
// Other packages call [SignIn.Visitor] to find the user of a request, [SignIn.Ask] to answer an
// authorize request with the sign-in page, and [SignIn.SignOut] to end a session. The page's form
// carries the authorize request in a hidden field; after the sign-in the browser is redirected
// there with 303. On the account page users see and revoke what they have allowed, edit their profile, download
// all that is held about them and delete their account (Config.DeleteAccount).
//
// With a [Mailer] people sign in with a code by email, confirm their address, set a new password if they have
// forgotten theirs, and are notified of changes to their account ([SignIn.Notify]). Emails wait in the Store until
// they are handed over, so none is lost with a process (decision 68). With a [Revoker] they can change their password.
// [Config.Ways] says who may become a user without an operator, and how.
//
// # Your own users, methods and pages
//
// A host with a user table of its own implements users.Users, two methods; see package users.
//
// A method that the protocol does not name, such as a company directory or a badge, is a connector.Connector with a
// Label, among Config.Connectors. It begins at a page, of the host or of another site, and ends at
// /oauth/signin/with/{name}/return with something that proves who it was. The state between is drawn here, tied to the
// browser, and used up once. A page that asks for a secret that can be guessed needs counters.Addresses of its own.
//
// For a sign-in page of the host's own in place of this package, implement oauth.SignIn: examples/embed does.
//
// # Choices
//
// Each sign-in method is a struct of its own, in a package below internal, that embeds the shared steps (flow.Steps)
// and does not know the others. Below them, each importing only those further on in this list: flow, attempt, notice,
// trail, session, web, outbox, limits, methods, usernames, totp.
package signin
