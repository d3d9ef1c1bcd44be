// Package state describes what is true of a store as a whole: which features it requires ([Feature]), how many
// records it counts ([Counts]), and which documents that processes cache have changed ([Change]).
//
//	stop := store.OnChange(func(c storage.Change) { cache.Drop(c.Kind, c.IDs) })
//
// Package storage names these types as its own.
//
// # Choices
//
// A feature is written down before the first fact that needs it, so a store in which nothing new was used can still be
// opened by the version before.
package state
