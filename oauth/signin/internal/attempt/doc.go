// Package attempt decides whether an attempt to sign in is let through.
//
// # Choices
//
// An account with too many failures is delayed (package limits), and only in browsers that nobody
// has signed in with as that user; those that are known, by their mark or by a session that is
// still theirs, are never held up, and what succeeds there changes nothing for the others. Their
// mistakes count, since a browser can be borrowed. So somebody who never stops guessing can be in
// front of the owner in a new browser, and never in one that is known. A name that nobody has is
// delayed like one that somebody has. Of a host's own Users without users.NamedUsers it is not known
// whose a name is: names are counted, and every browser waits.
//
// A wrong code that was sent by email counts for the account of its address, and waits for it, so a
// code has five tries and ten failures of whatever kind bring the delay. A try is not taken while
// it waits.
//
// What makes a browser known can be copied, so ten passwords of an account can be in the first queue
// (package passwords) at a time, and after ten wrong ones in five minutes one, with the same pauses
// as the delay: the other known browsers of the account queue as unknown ones meanwhile, and
// are not delayed otherwise.
package attempt
