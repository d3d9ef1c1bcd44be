// Package trail shows the audit trail in the console: a search, each record at an address of its own, the
// state of the chain, and files of what was found.
//
// # Choices
//
// Administrators and auditors see every record; everybody else those of their own applications. A record
// that somebody may not see answers as if it were not there.
//
// A page reads a bounded part of the trail. To verify is to read all of it, so it runs beside, once at a
// time on a node, and its page says how far it is. A file holds at most 100,000 records, the newest first;
// its last line says where to go on if there are more.
package trail
