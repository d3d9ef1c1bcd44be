// Package ledger is the meter of the gateway: it counts charged calls, by application, product and UTC hour,
// and by user, tool, capability and agent where those are known, and hands the sums to the store exactly once.
//
// One verb counts: [Ledger.Charge], called when the product has answered and before the
// first byte of that answer leaves. Hence answered <= counted <= sent at any kill -9, and
// equality for every call that was not in flight then.
//
// A charge is a record in the journal and a number in memory. The numbers are summed into
// a [driver.Batch], which is sealed at most once per flush interval and sent until the
// store has answered; its number makes sending it again harmless. The journal is a folder:
//
//	lock                    held while a Ledger is open
//	<node>-<seq>.usage      the records of one batch; removed when the store has it
//	<node>-<seq>.damaged    the same, with damaged bytes; for the operator to look at
//
// A charge stores its record into memory that the file shares with the kernel, or costs one write(2).
// Either way the kernel has it, so a killed process loses nothing; fsync once a second
// while something is new bounds what a power cut takes to that second. Without a folder
// the bound, for both, is the flush interval.
//
// # Choices
//
// A file is a batch. Which records belong to which number is then never a question, no
// record says "sealed" or "acknowledged", and acknowledging is removing a file.
//
// Every Open draws a new node name and never adds to an old file. So no number is used
// twice, even if the folder was lost, copied or put back from a backup.
//
// There is no refund. A row of the store only grows, and a call's batch may be stored
// before its upstream is known to be dead: charging at the product's verdict needs none.
//
// On Linux, where the file system is known to share a mapping with write(2) and fsync(2), a file is
// mapped (see mapping). It grows by steps that have blocks on the disk before a record comes into
// them, and a record's first byte is stored last: whatever a kill comes amid ends the journal for its
// reader, and what is behind are zeros. Records are those of a written file, so older versions
// read a mapped one too; they may report the room behind a killed process's last record as torn. One
// lock is held while a record is copied: with places that are reserved without one, a record that is
// not finished would stand before others that are answered. A store that faults (SIGBUS) is written
// instead, and so is everything from then on; the log and [Ledger.Mapped] say so. A store may wait for
// the disk where it meets a page for the first time, which holds up a thread that the runtime
// believes to be busy; beside a disk that syncs without a pause it waits more seldom, and for less
// long, than write(2) does.
//
// Charges are not grouped into shared writes: under one lock, parallel charges take 1.3
// times what parallel writes take without any, and a leader would have to wake the others.
//
// A disk that refuses does not refuse calls, because a quota never interrupts. Calls are
// counted in memory, [Ledger.Health] and one line of the log say so, and what is missing in
// the journal is written when the disk accepts it again. Until then a kill loses them.
//
// The tool, the user and the agent of a call stand in the one record of it. The rows of the other dimensions
// are made of it when the batch is sent, under an AppID of their own (see [By]), so stores need not
// know of them, and a batch that is sent again counts once in all of them. They are kept as long as
// those of products: hours for 400 days, days for ever. Names have at most 255 bytes. A caller can
// only add a row an hour for each tool that there is and each user of the application, and at most
// one of each for each call that was charged. A batch has about 10,000 rows, of all dimensions
// together. While the store is away and half of the memory for rows is in use, calls are counted by
// product alone.
//
// The whole service is counted with its applications: all calls, those of each product, and how long
// they took, in 17 ranges. A call finds that with its own row, without looking for it, so it costs next
// to nothing; its range is one more byte of its record. A batch has up to 36 rows more for each
// product and hour, however many applications call. Latencies of calls whose records older versions
// wrote are not known.
//
// A damaged journal does not stop a start either. Every record has a checksum: those that
// pass are counted, the others are reported with file and size, and the file is kept.
package ledger
