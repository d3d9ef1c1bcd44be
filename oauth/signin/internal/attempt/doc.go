// Package attempt decides whether an attempt to sign in is let through.
//
// # Choices
//
// An account with too many failures is delayed (package limits), and only in browsers that nobody has signed in with
// as that user; those that are known, by their mark or by a session that is still theirs, are never held up, and what
// succeeds there changes nothing for the others. Their mistakes count, since a browser can be borrowed. In a browser
// that is not known, each network has attempts of its own at an account that is delayed ([Turns]): of the networks
// around two clients those that have failed less go first, the widest before the narrower ones, so a person who never
// stops guessing uses up nobody's turn but that of their networks. Those attempts are counted by what counts wrong
// secrets and emails too (counters.Counter), in this process or for several, in tables of fixed size: nothing is kept
// of a network that asks and is told to wait. A name that nobody has is delayed like one that a person has. Of a
// host's own Users without users.NamedUsers it is not known whose a name is: names are counted, and every browser
// waits.
//
// Passwords, codes by email, passkeys and second factors are counted apart: whoever guesses one makes nobody wait who
// proves another, and the page that says to wait offers the first three. A code has five tries; one is not taken
// while the account waits.
//
// The cookie of a known browser can be copied, so at most ten passwords of an account are in the first queue
// (package passwords) at a time, and after ten wrong ones in five minutes one, with the same pauses as the delay:
// the other known browsers of the account queue as unknown ones meanwhile, and are not delayed otherwise.
package attempt
