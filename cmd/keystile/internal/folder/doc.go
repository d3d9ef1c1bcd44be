// Package folder is the data folder: keystile.db, master.key, first-run.json, store.json and the
// socket that admin commands reach a running server by.
//
// Everything in it is for its owner alone, whatever the umask says: modes are set, not
// asked for. Files with secrets appear whole or not at all.
//
// # Choices
//
// A folder that others may look into is only warned about, because volumes of container
// platforms often cannot be made private. A master key that others may read is refused.
//
// The key is written before the database exists, and afterwards only by a change of it, which
// keeps the old one in the file until nothing is sealed with it: a database without its key
// is a mistake to mend, and a new key would bury it. The first key appears by link(2),
// which refuses an existing name, so that two first starts at once end with one key.
//
// store.json names the store that the folder belongs to, which has the same name in itself. It is written behind the
// store, so a first start that is killed leaves none; and it is removed before another store is restored or copied
// to the folder, so that one that is killed in between leaves no folder that refuses what it has. A key that is made
// for a store which another node has made meanwhile is removed again.
//
// Restore holds the store's own lock on the file, not a second one: a server that is
// running without its socket is noticed as well.
package folder
