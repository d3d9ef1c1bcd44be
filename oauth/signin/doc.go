// Package signin knows who sits in front of a browser: the sign-in page, the session
// behind the cookie open_sso_token, and the lock against guessing.
//
// Other rooms ask [SignIn.Visitor] whose browser a request comes from, let [SignIn.Ask]
// answer an authorize request that needs somebody, and end a session with
// [SignIn.SignOut]. The page's form carries the authorize request in a hidden field; who
// has signed in is sent back there with 303.
//
// Users and passwords are in the Store: see [NewUsers] and [Passwords]. A host may bring its
// own, see below.
//
// It also asks for consent, as the Consent of an oauth.Config, and has the account page,
// where people see and take back what they have given. [SignIn.Mount] hangs both, at
// /oauth/signin and /oauth/account.
//
// With a [Mailer] people sign in with a code that is mailed to them, confirm their address,
// set a new password if they have forgotten theirs, and are told what was done to their
// account ([SignIn.Notify]). With a [Revoker] they change their password.
// Config.SignUp says who may become a user without an operator.
//
// # Bring your own users
//
// A host with a user table of its own implements [Users], two methods, and gives it to Config
// and to oauth.Config; examples/signin does. The Store keeps what is not about who somebody
// is: applications, sessions, tickets, consents, openids and tokens, all by the user's sub.
// So the sub never changes and is never given to somebody else. This room never writes to
// the table but by the methods that it implements:
//
//	interface       with               opens                                     without it
//	Users                              passwords, codes to scan, consent;        required; nil: the
//	                                   sessions and applications on the account  users of the Store
//	                                   page
//	ConnectedUsers  Config.Connectors  other providers and methods of the        New refuses Connectors
//	                                   host's own, to sign in with and to link
//	LinkedUsers     the account page   the ways in that it shows, and to unlink  the Store is asked, and knows
//	                                   them                                      none of the host's
//	EmailUsers      Config.Mailer      codes by e-mail, to sign in with and to   not offered;
//	                                   confirm an address                        notices are sent
//	                                                                             all the same
//	PasswordUsers   Config.Revoker     to change the password; with EmailUsers   not offered
//	                                   also to reset a forgotten one
//	SignUpUsers     Config.SignUp      to become a user by a form                not offered
//	NamedUsers                         known browsers are not held up while a    every browser waits while a
//	                                   name is guessed at from many addresses    name is guessed at
//
// A [storage.User] that is Disabled is refused here, whichever way they come. Its LoginType is
// what userinfo reports, so a host that connects wx, qq, alipay or douyin writes down in
// Connected by which somebody came; empty is self.
//
// # Bring your own way to sign in
//
// A method that the specification does not name, such as a company directory, a passkey or a
// badge, is a connector.Connector with a Label: a connector.Labelled among Config.Connectors.
// It begins at a page, of the host or of somebody else, and ends at
// /oauth/signin/with/{name}/return with something that proves who it was. The state between
// is drawn here, tied to the browser, and used up once. The lock is looked at and counts
// nothing: a page that asks for what can be guessed has a [Guard] of its own.
//
// For a sign-in page of the host's own in place of this room, implement oauth.SignIn:
// examples/embed does.
//
// # Choices
//
// The hidden field is the sender's to change, so nothing in it is believed: the answer
// leads to /oauth/authorize or a scanned code on our own origin whatever it holds, and the brand and the
// form-action of a page shown after a failure come from the application it names, looked
// up and held against [storage.App.AllowsRedirect] again.
//
// There is no token against cross-site forms: http.CrossOriginProtection refuses them by
// what browsers say about a request, and SameSite=Lax keeps the cookie out of it.
//
// A disabled user, an unknown one and a wrong password look the same, take the same time
// and count the same.
//
// A code to scan (qr.go, scan.go) is made by a GET: what is written belongs to nobody, ends
// in two minutes and is bounded by address, and a page without a button is one step less.
// A GET also claims the code for who opens its link, because it settles only who may
// answer. Nothing is allowed but by a POST of ours.
//
// What the code holds is public: whoever reads it can open the phone's page, be shown who
// asks, and no more. Collecting takes the cookie of the browser that shows it. That cookie
// is drawn anew each time, so of two tabs the later one counts. What no design of this kind
// prevents is a person who confirms a code that somebody has sent them; the page says where
// the other device is, and what not to confirm. It also shows a number that is drawn at the
// scan and is not in the code, and asks whether the other device shows the same one: the
// page of the code is told it by the poll, or without a script by its button.
//
// The session that is collected has the login type of the scanner's, since the
// specification has none for codes, and the time of their sign-in: a confirmation proves no
// more than the phone's session does, and must not make a fresh sign-in of one that is weeks
// old. So prompt=login and max_age=0 are met by it only if the phone's sign-in is recent; if
// not, the application's request asks once more. The session is not begun if the one that
// confirmed has ended by then, and lives on its own afterwards. A scan moves the end of the code by a minute and
// not to a minute from then, so that it never takes time away.
//
// The polls of a page that waits are no requests of a person: 60 a minute for each code and
// 600 for each address, counted here and nowhere else, see [FreePaths].
//
// [SignIn.AskConsent] shows who asks, from which host, for what in words, and of whom. The
// page carries whom it asked and for which scope, since another tab may sign somebody else in
// and the application may ask for more: an answer counts for exactly that user and scope, and
// what the page has no words for is never stored. A yes to the management of applications
// takes a recent sign-in when it is said, not only when it is used. A yes leads back to authorize, which asks
// the store again; a no leads there too, marked as one. The mark proves nothing and needs to
// prove nothing: it can only have an application told no, where the provider would have told
// it yes. "Use another account" signs this one out, because a browser has one session here.
//
// Without a Revoker the account page shows the same and offers what needs none: to sign out
// one browser and to unlink a method. A host that takes only its sessions from here has no
// tokens to end; and a page that said it had ended them would lie. Each form names a record,
// which is looked for among those of whoever sends it.
//
// Signing out everywhere ends every session, this one too, and every grant. It asks for no
// fresh sign-in: whoever sees a stranger's browser must be able to act at once, and it opens
// nothing. What was consented to is remembered.
//
// Removing access ends the consent first and the tokens after, so that nothing which is being
// granted meanwhile escapes. The application keeps the openid: it knows who comes back. One
// of the house is not asked for, so it connects again at the next sign-in.
//
// A method is unlinked whole, with the other browsers that came in by it, and never the last
// that lets its owner in. A username is not unlinked: somebody else could take it and be
// taken for its owner.
//
// Linking a way in, unlinking one and confirming an address take a sign-in of the last ten
// minutes ([SignIn.Recent]); a sign-in of the future, by more than clocks differ, is none.
// It is asked for when the act begins: the visit to a provider, or the code that is mailed,
// has another ten minutes of its own. To change a password takes the current one, which is
// a sign-in of that moment, so no other is asked for. A sign-in at another provider counts
// as one, though only the provider knows how long ago its user proved who they are.
//
// Each of these is on the audit trail, with what was before and what is after, before it is
// answered. Ways in are named; addresses and passwords are there as eight bytes of a SHA-256,
// of the password's salted hash. Of a host's own passwords the trail says "unknown".
//
// Users are told by mail, at the address they have proved, of a sign-in from a browser that
// was never signed in with as them, of a way in that was added or removed, and of a new
// password or address; [SignIn.Notify] is for what other rooms do. A changed address is told
// to the old one and the new one. A user is sent at most ten such mails an hour, counted in
// the store, and the tenth says so. Notices take at most half of the outbox, and those of one
// user a few places of it; what finds none is dropped and logged, since neither a sign-in nor
// a code must wait for it. The mail is in the language of the user's last sign-in, of one from
// a new browser in that of the sign-in before it, or else in English and Chinese. What others
// have chosen, such as the name of an application, is one line of the text and never in the
// subject; a browser is named as the account page names it.
//
// A browser is known to a user by the cookie keystile_known, for a year and for the last five
// users. It holds a salt and a keyed hash of the user and the month for each. The key is drawn
// at first use and kept sealed in the store, so every process knows the same browsers. The
// mark says that somebody has signed in there, and no more: signing out, signing out
// everywhere and a new password leave it. Where the key cannot be read, a browser is unknown.
// Of a user made within the last minute no sign-in is told: it is the one of signing up.
//
// A username is found by NFKC and lower case, so one that is typed in full width signs in.
// A new one is refused if it looks like somebody else's, which is to say that it shares a
// skeleton (UTS 39) with it, as it is written or in lower case; accents and other diacritics
// do not count, the voicing marks of kana do. Whoever types such a name to sign in is not
// taken for its owner. New names are of one script, or of Chinese, Japanese or Korean with
// Latin, and hold nothing that cannot be seen; they are kept and shown in NFKC. Names that
// are drawn are held against the same list.
//
// What the names of users look like is a document each, written in one step with the user,
// so of many sign-ups at once that look alike one gets through. Users who were made before
// have none: the first time somebody is made, every user is read once and theirs are written,
// which nothing waits for but that sign-up. Users who look alike already stay as they are,
// and sign in by the very name they typed then. While an older process makes users beside a
// newer one, those are not held against the list.
//
// An e-mail address is found by its lower case and otherwise as it is typed: no dots or
// plus signs are folded, because only the provider knows what they mean. It is ASCII.
//
// What is kept of a mailed code is an HMAC under the browser's cookie, which the store does
// not have. So the code works in the browser that asked for it alone, and a copy of the
// store is of no use to whoever would try out the million codes. Each of the five tries is
// taken before the code is looked at. Of one address the newest code alone is valid that was
// asked for from one network, or from the known browsers of its user: a stranger must not end
// the code that somebody is typing.
//
// A known and an unknown address are answered alike because the question which of the two
// it is is asked beside the request, where the mail is sent. The pauses between mails
// count both. Of one address a network is sent five codes an hour, a minute apart, whatever they
// are for, and all networks together twenty; the browsers in which its user has signed in have
// five of their own, which nobody else can use up (entry 56 of the decisions). So there are at
// most 125 tries an hour at the million codes. Who is nowhere known and asks after strangers have
// used up the twenty must wait: that is the price. All of this is one ticket in the store for
// each address, so it holds for every process and survives a restart; it takes some 25 entries,
// each with a network, and ends an hour after the last. To confirm a new address is to ask as a
// stranger: nobody has signed in as its user yet.
// Where sign-up is by invitation or closed, an unknown address is sent nothing.
//
// Who signs up by mail gets a username that is drawn, because applications that may not
// learn the address are told the username.
//
// Only a user's own mail proves an address: one typed at sign-up is kept nowhere until its
// code comes back, so nobody can prepare an account in another's name.
//
// A new password ends the user's sessions and grants and is told to their address. Who has
// set one by mail is signed in: the code would have done that as well.
//
// A user who has no password is sent nothing by the page to reset it. An address is a way in
// for good, hence the recent sign-in.
//
// A method of a host's own is self to applications: the specification has six login types,
// and clients may refuse a seventh (spec 2.2). Its name stands in our paths, in the log and
// among the ways in. So a session does not tell by which of the host's own somebody came, and
// who unlinks one signs out every other browser that came in by any of them or by a password.
//
// The lock counts addresses, and no account is ever locked: whoever knows a username must not
// be able to lock its owner out. An account with ten failures in five minutes, whatever addresses
// they came from, is delayed (entry 56 of the decisions): 429 with Retry-After, from a second after
// the tenth failure doubling to a minute, until five minutes pass without a failure. It
// holds for browsers that nobody has signed in with as that user; those that are known, by their
// mark or by a session that is still theirs, are never held up, and what succeeds there changes
// nothing for the others. Their mistakes count, since a browser can be borrowed. Once there is a
// delay one attempt at a time is let through, so somebody who never stops guessing can be in
// front of the owner in a new browser, and never in one that is known. A name that nobody has is
// delayed like one that somebody has. Of a host's own Users without [NamedUsers] it is not known
// whose a name is: names are counted, and every browser waits. The counts are in memory, of
// 100,000 accounts; if there are more, those with the fewest failures are forgotten.
//
// A wrong code that was mailed counts for the account of its address, and waits for it, so a
// code has five tries and ten failures of whatever kind bring the delay. A try is not taken while
// it waits.
//
// The lock is in memory and does not survive a restart. It holds 100,000
// addresses, and so do the rates beside it; where there are more, an unknown one is counted by
// its network, with a multiple of the limit (entry 56 of the decisions, package network). What
// neighbours share so is answered 429 with Retry-After until failures are five minutes old, up
// to an eighth more, and never locks. There an attempt counts as failed while it is in flight.
//
// What a stranger begins is stored until it ends, two minutes for a code to scan and ten for a
// mail or a visit to a provider. So a ticket holds at most 4 KiB of the authorize request and
// 256 bytes of the browser's name, which makes some 5 kB in all, mostly below 1 kB; a longer
// request is refused and told its longest part. The page itself carries up to 16 KiB, in the
// browser. How many tickets, mails and new users there may be is limited by address and, of
// IPv6, by /56 and /48, which may do four and sixteen times as much (package network).
//
// A mail that a stranger asks for is two tickets, also if nobody has the address, or it would
// show who has one. Where 1,024 mails were asked for in the last ten to twenty minutes whose code
// nobody has typed in, those may have another around whom, in their address and the networks of
// the ladder, few were, the fewer the more there are; around whom there is none may always. Codes
// to scan and visits to providers are bounded alike, from 2,048 that have not come to an end. So a
// flood grows the file by some MB, and who comes from networks that it does not hold notices
// nothing; in its own they wait, for mails up to twenty minutes. Whoever is signed in, or for mails
// known to the user of the address, does not.
//
// A failed attempt names the user it was against on the audit trail, and is a record of its
// own: the lock and the delay bound how many there are. One that was not looked at, because of
// them, and one against a name that nobody has, name nobody, and the trail sums them.
//
// As many passwords are hashed at a time as there are processors; the others wait for three
// seconds at most. First come browsers that are known to the user and whatever is not a sign-in,
// in their order. Strangers follow, those first around whom, in their address and the networks
// of the ladder above it, the fewest passwords were tried in the last five to ten minutes that
// were not right. So a flood from however many addresses stands behind whoever comes from
// networks that it does not hold. Where 1,024 strangers wait, the last of that order has to go.
// Who has to go, or has waited in vain, is answered 503 with Retry-After before anything is
// hashed, and so is who is known and would wait for more than three seconds, by what a hash takes
// lately. It is no failure. What makes a browser known can be copied, so ten passwords of an
// account can be in the first line at a time, and after ten wrong ones in five minutes one, with
// the same pauses as the delay: the other known browsers of the account are strangers in the line
// meanwhile, and are not held up otherwise. Who hangs up leaves the line. What was tried is in
// memory, of 131,072 networks of each size. Where only the hash of a right password is to be
// renewed at another cost, the sign-in goes on without. A host's own Users are in these lines if
// they use a [Passwords]. Who has never signed in here and comes from the same network as a flood
// cannot be told from it: that is the price.
//
// A form without a username, a password or a code of six digits is answered 400, is looked up
// nowhere and counts as no failure, also while its address is locked: it is no attempt.
//
// Signing in at another provider begins by a link: what that makes is nobody's until the
// same browser comes back. Its ticket is used up before the provider is asked, so that of
// two arrivals one goes on. All identities a provider gives lead to one user, also one that
// arrives later; where they are two users' the strongest decides, and nobody's is moved.
// Whoever comes in so for the first time becomes a user, whatever sign-up is set to: the
// operator has opened that door by name. What a user has said of themselves is kept, and a
// provider fills in what is missing. Linking one takes a form of ours and a fresh sign-in:
// by a link, another site could have its own provider's user linked to the visitor.
package signin
