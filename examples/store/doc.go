// Package store is a tutorial: a complete storage adapter on one file. Read backend.go,
// the 15 methods of driver.Backend, each under the promise it keeps; then file.go, which
// makes a method happen wholly or not at all, and last.
//
// Everything is JSON under a text key. A method works on a step, which reads the store
// under the step's own changes. If the method refuses, they are thrown away; otherwise
// they become one line of the file, synced before the answer. Open reads the lines back.
// So no method has to undo anything, or to copy: reading decodes. In an adapter for a
// database, its transaction is the step, and the methods keep their shape.
//
// It leaves out speed (every write waits for an fsync of its own, a List decodes all
// documents of its kind), compaction (the file only grows) and a lock against a second
// process. storage/bolt has all three.
package store
