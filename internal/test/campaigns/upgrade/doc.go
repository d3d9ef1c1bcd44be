// Command upgrade writes down the data of a release, and swaps two versions on one store.
//
//	go -C internal/test/campaigns run ./upgrade --write v0.2.0 # before it is tagged; it asks KEYSTILE_POSTGRES_URL
//	go -C internal/test/campaigns run ./upgrade --before v0.1.0      # a tag, a commit or a binary
//
// The promise is: data of every release opens, and one version back goes on reading what this one has written, so
// that nodes are replaced one after another and an upgrade can be taken back.
//
// With --before, the older version makes a store and uses it, this one opens and uses it, the older one again,
// and this one: each answers for all that the one before it did. It is done on a file and, with
// KEYSTILE_POSTGRES_URL, on PostgreSQL. It exits with 1 if something is lost.
//
// With --write, programs that embed the release (examples) are kept beside its data: a module of their own, whose tests
// show that later versions compile and run them unchanged.
//
// The tests open the data of each release (package released), with the clock set to when it was left. Where
// a release is newer than the sources know how to read, or writes what the one before cannot read, they fail.
package main
