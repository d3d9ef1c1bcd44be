// Package bolt is the default [driver.Backend]: one file of bbolt, held by one process. An answered write
// survives a kill and a power cut.
//
//	b, err := bolt.Open("keystile.db", bolt.Options{})
//
// Reads run beside each other and beside the one writer, in the caller's goroutine. All writes go through one
// goroutine, which commits the waiting jobs in one transaction; see writer.go. The layout of the file is in
// layout.go.
//
// A file that no process writes to can be read without the right to write: see [OpenReadOnly]. [Check] looks
// for damage, and [Compact] writes the file anew without free pages. Panics of bbolt and faults of the mapping
// are errors of the caller whose pages they hit.
//
// # Token log
//
// With Options.TokenLog a batch of nothing but Issue and Exchange is one write and one flush of a log beside the file,
// and no transaction. Every other write is a transaction as without it, and takes in first what is in the log. So a
// Revoke has its place among the exchanges, and no reader but Token knows of the log. A store that is closed has none,
// and is a file that the version before reads. See log.go, logmark.go and package tokenlog.
//
// # Damage
//
// Each row has a CRC-32C of its bucket, its key and its value together, because bbolt has none of its pages:
// one flipped bit would be served. A damaged row is an error that names it (driver.Damaged), and never a
// verdict. It does not look absent either: where a key is not found, the rows around its place are examined.
// Get, Token and every write that reads the row fail; so does the page of List, Records or Usage to which it
// belongs, because a caller that gets less may take the rest for all: the missing rule may be one that denies.
// The feed fails for the same reason. A Sweep leaves the row where it is, goes on, and reports it when nothing
// else is left. A batch of Count that adds to it fails whole, and waits in the journal of its node. Other rows
// are served, also those beside it. Not covered are the few texts by which a file says what it is, the numbers
// that it has given last ([Check] finds a lower one), damage made on purpose, and damage of the very last block of a
// token log after a kill, which looks as a write does that the kill has cut off.
//
// # Choices
//
// A commit waits for the disk twice, so it carries many jobs and never waits for more: with 64 clients it
// carries 43 of them, for 10 to 15 times the rate of one commit each. The other reasons stand with the types
// and functions in question.
//
// This is one package because writing, checking and compacting know one layout of the file and its sums, which no
// other package may.
package bolt
