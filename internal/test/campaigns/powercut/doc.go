// Package powercut cuts the power of a machine that a keystile runs on, a thousand times, and
// looks at what is left.
//
// A real keystile works under strace: clients exchange, rotate and revoke tokens, make
// applications and users, and make calls that are charged; commands change the master key, make
// a backup and restore it. The trace has every write, sync, truncation, creation, rename and
// removal of the data folder, and every answer that left, all in one order. From that the tests
// build disks as a power cut can leave them at any of these moments, have the program open each,
// and hold it to what it had acknowledged.
//
//	go -C internal/test/campaigns test ./powercut             1,000 images
//	go test -short ./internal/test/campaigns/powercut      50
//	POWERCUT_SEED=7 go -C internal/test/campaigns test ./powercut   draws the cuts of an earlier run again
//
// The cuts are the same again only on the same recording: what the machine does in between is
// not repeated.
//
// # What a power cut may do
//
// Synced data is there. Of the data written to a file since its last sync there is nothing, all,
// some of the writes, some sectors of 512 bytes, or the last write alone; a file that is only
// appended to may also have its new size with zeros or garbage in it. A name that was given or
// taken away is certain when the folder that it is in was synced; until then each of these changes
// may be missing, in any choice. That is more than common file systems do: some of them order what
// POSIX does not.
//
// # Choices
//
// strace and no hook in the program: it sees the program that is shipped, with all of its
// libraries, and a write that bypasses a hook is seen too. It needs the right to trace, which
// some containers do not give; then the tests say so and are skipped.
//
// A store into a mapping is no call. The program that is recorded has one line more than the shipped one, which
// writes each record of the journal to the place where it has just been stored: that changes nothing, and puts it
// into the trace. The journal's files at the end of a life must be, to the byte, those of the trace; the shipped
// program fails this. That fsync(2) takes stored pages with it is the kernel's promise, and the tests of the ledger
// have it say so. Pages of a mapping reach the disk in no order, as sectors of writes do in the images. One life of
// the recording writes its journal.
//
// An answer counts as given when its first write begins. An answer without the id of a request
// counts from when its client had it.
//
// A write by a call that is not understood fails the test, and so does a folder that in the end is
// not, to the byte, that of the trace: a recorder that misses something would make every fault
// invisible.
//
// Up to a second of charged calls may be lost. The calls are held in the journal by a program whose
// interval of sending is a minute (package overlay), because otherwise the store has them before it
// matters whether the journal was synced. Beside the second the tests allow the time that a busy
// machine may take for the sync itself.
//
// The faults in planted_test.go are each found. Each is a changed text in a build of its own.
package powercut
