// Package memory is a [driver.Backend] that ends with its process: for tests, for trying
// things out, and to be read before an adapter is written.
//
// # How it is made
//
// Every method runs as one step under one mutex, which is all that "wholly or not at all"
// takes here. A step looks for every reason to refuse before it changes anything; a
// database gets the same from a transaction that rolls back.
//
// All data is copied at the border, so no caller holds memory of the store. Times lose their zone
// and their monotonic reading on the way in, as they do in every store that writes them down.
//
// # Choices
//
// Plain maps and no ordered index: a List, a Sweep or a look into the feed of revocations
// visits everything. That is readable, and quick enough for thousands of records. Use
// storage/bolt for more.
package memory
