// Package signin signs people in: the sign-in page, the session behind the cookie open_sso_token,
// the account page.
//
// Other packages call [SignIn.Visitor] to find the user of a request, [SignIn.Ask] to answer an
// authorize request with the sign-in page, and [SignIn.SignOut] to end a session. The page's form
// carries the authorize request in a hidden field; after the sign-in the browser is redirected
// there with 303.
//
// It also asks for consent, as the Consent of an oauth.Config, and serves the account page, where
// users see and revoke what they have allowed, edit their profile, download all that is held about them
// and delete their account (Config.DeleteAccount). [SignIn.Mount] registers both, at /oauth/signin and
// /oauth/account.
//
// With a [Mailer] people sign in with a code by email, confirm their address,
// set a new password if they have forgotten theirs, and are notified of changes to their account
// ([SignIn.Notify]). Emails wait in the Store until they are handed over, so none is lost with a
// process (decision 68). With a [Revoker] they can change their password.
// Config.SignUp says who may become a user without an operator, whichever way they come in, and
// Config.ConnectorSignUp says otherwise of one provider. [Config.Ways] is both in one answer.
//
// # Its packages
//
// For hosts: [github.com/keystile/keystile/oauth/signin/users] (the users, and the interfaces of a
// host with a user table of its own), passwords (hashes), connector (other providers; connector/oidc for
// OpenID Connect), mailer (SMTP). Against guessing it counts with package storage/counters.
//
// The features, each in a package below internal that embeds flow.Steps: otp (codes by email), scan (codes to
// scan), federation (other providers), factor (a second factor), enrol (adds and removes them), passkey,
// signup, newpassword, account (the account page), profile, mydata (a download) and deletion (beside it),
// consent. Below them, each importing only those further on in this list: flow, attempt, notice, trail,
// session, web, outbox, limits, methods, usernames, totp.
//
// # Bring your own users
//
// A host with a user table of its own implements users.Users, two methods; see package users.
//
// # Bring your own way to sign in
//
// A method that the protocol does not name, such as a company directory or a
// badge, is a connector.Connector with a Label: a connector.Labelled among Config.Connectors.
// It begins at a page, of the host or of somebody else, and ends at
// /oauth/signin/with/{name}/return with something that proves who it was. The state between
// is drawn here, tied to the browser, and used up once. The lock is checked and counts
// nothing: a page that asks for a secret that can be guessed needs counters.Addresses of its own.
//
// For a sign-in page of the host's own in place of this package, implement oauth.SignIn:
// examples/embed does.
//
// # Choices
//
// Each sign-in method is a struct of its own that embeds the shared steps (flow.Steps) and does not know the
// others. The fields of users.Host say what Config.Users can do. The other reasons stand with the types
// and functions in question.
package signin
