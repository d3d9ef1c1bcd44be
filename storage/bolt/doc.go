// Package bolt is the default [driver.Backend]: one file of bbolt, held by one process.
// An answered write survives a kill and a power cut.
//
// Reads run beside each other and beside the one writer, in the caller's goroutine. All
// writes go through one goroutine, which commits what is waiting in one transaction; see
// writer.go. What lies where in the file is in layout.go.
//
// # Choices
//
// Own group commit. A commit waits for the disk twice, so it should carry many jobs and
// never wait for more: with 64 clients it carries 43 of them, for 10 to 15 times the rate
// of one commit each, and a lone client is answered after 1.4 bare commits. db.Batch
// holds a lone caller up for 10 ms and runs a batch again when one of it refuses.
//
// A failing or panicking job is looked for by halving its batch; the others go through.
// A commit that fails where no one can tell whether it happened stops all writing.
//
// Rows are written by hand, not as JSON. A token decodes in a twentieth of the time, so
// Exchange can decode in the writer, where it decides, and needs no look ahead.
// Times are 12 bytes, because Unix nanoseconds end in 2262 and "never" is often 9999.
//
// Keys begin with a time, so inserts go to the end of the tree and pages can be filled
// to 0.9: 0.53 of the file at bbolt's default. From 10^3 to 10^6 stored tokens an
// Exchange of any of them takes 1.1 times as long for one client and up to 1.5 times
// for 64, because tokens of many ages then lie on many pages.
//
// The list of free pages is kept in the file. That costs 1.1 times the commit, and 1.5
// times it right after most of 300,000 tokens were swept at once, but opening reads no
// more than that list: 0.1 ms at 10^6 tokens, where scanning for free pages takes over
// 1,000 times as long and grows with the file.
//
// 4 GiB of address space are mapped from the start, so a backup that reads for minutes
// never holds up the writer while the file grows.
//
// Check walks the pages itself before bbolt's own check does: that one follows a damaged page out
// of the file or in a circle, in a goroutine where no fault can be caught.
//
// Rows of hours that are too old are found by one step for each application, once an hour,
// and not noted among what ends: that would be one more row for each.
//
// A file that was exchanged for another while its lock was waited for is opened anew; a restore
// or a compaction ends that way. Compact compares what it has written with what there was, row
// by row, before the new file takes the name.
//
// A new file is filled and synced under a draft's name, and linked to its own: after a power cut
// there is none, or a whole one, and of several processes that start at once one makes it. Where
// a file has one name only (FAT, some shares) it is made in place, and a power cut in its first
// moment may leave one that the next Open refuses. Every Open for writing syncs the folder,
// because the process that gave the name may have died before that, and removes drafts that were
// left.
//
// The layout has a version. Open for writing takes the steps that a file lacks, forward only and
// each in one transaction (step.go). A step is additive, and then the version before it may go on
// with the file, which notes the step as not taken, so the next start of the newer one takes it
// again; or it changes the format, and older versions refuse the file with the name of the version
// that reads it. The format is "2": it keeps out versions that do not know of features.
//
// Each row has a CRC-32C of its bucket, its key and its value together, because bbolt has none of its pages: one
// flipped bit would be served. It stands behind the row, where versions without sums do not read (sum.go), or in a
// bucket of its own (sumbeside.go), so a release and the one before it take turns on a file. What a version without
// sums has written last has none, is read as it is, and gets one when it is written. Rows of the feed, the index and
// the notes of what ends need none: each leads to a row that says the same, and is compared with it whenever it is
// used.
//
// A damaged row is an error that names it (driver.Damaged), and never a verdict. It does not look absent either: where
// a key is not found, the rows around its place are looked at. Get, Token and every write that reads the row fail; a
// page of List, Records or Usage that it belongs on fails, because whoever gets less may take the rest for all: a rule
// that denies may be what is missing. The feed fails for the same reason. A Sweep leaves it where it is, goes on, and
// tells when nothing else is left. A batch of Count that adds to it fails whole, and waits in the journal of its node.
// Other rows are served, also those beside it. Not covered are the few texts by which a file says what it is, the
// numbers that it has given last (a lower one than was given is found by Check), and damage made on purpose.
//
// Check names all damaged rows, Compact and copies (Rows) refuse them: a row written anew would have a good sum.
// The sums cost a Get and a Token 1.0 to 1.02 times the processor time, an Exchange 0.95 to 1.0 and a page of List
// 1.05, whose entries at both ends are compared too, and no memory more.
//
// Copies to and from other adapters (package transfer) read each page in a transaction of its own, so
// no pages are kept from being used again for longer than that.
//
// A file that nobody writes to can be read without the right to write: OpenReadOnly takes the
// shared lock and has no writer. Opening looks at the file read-only first. Panics of bbolt
// and faults of the mapping
// are errors to the caller whose pages they hit.
//
// # Size
//
// It is larger than a package here should be: writing, checking and compacting know one layout of
// the file, which nobody else may.
package bolt
