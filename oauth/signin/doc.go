// Package signin is the room that knows who somebody is: the sign-in page, the session
// behind the cookie open_sso_token, and the lock against guessing.
//
// Other rooms ask [SignIn.Visitor] whose browser a request comes from, let [SignIn.Ask]
// answer an authorize request that needs somebody, and end a session with
// [SignIn.SignOut]. The page's form carries the authorize request in a hidden field; who
// has signed in is sent back there with 303.
//
// A host with a user table of its own implements [Users] and keeps everything else.
// Otherwise users and passwords are in the Store: see [NewUsers] and [Passwords].
//
// # Choices
//
// The hidden field is the sender's to change, so nothing in it is believed: the answer
// leads to /oauth/authorize on our own origin whatever it holds, and the brand and the
// form-action of a page shown after a failure come from the application it names, looked
// up and held against [storage.App.AllowsRedirect] again.
//
// There is no token against cross-site forms: http.CrossOriginProtection refuses them by
// what browsers say about a request, and SameSite=Lax keeps the cookie out of it.
//
// A disabled user, an unknown one and a wrong password look the same, take the same time
// and count the same.
//
// The lock counts addresses, not accounts: whoever knows a username must not be able to
// lock its owner out. It is in memory and does not survive a restart.
package signin
