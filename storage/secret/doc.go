// Package secret has the texts that must not be shown: a [Secret], and the [MasterKey] that they are sealed with.
//
//	key := secret.NewMasterKey()
//	ok := app.AppKey().Equal(typed) // in constant time
//
// Package storage names both as its own. A Secret prints and marshals as a placeholder; Reveal returns its text.
//
// # Choices
//
// A Secret is a struct that cannot be compared with ==, with its text behind a pointer: so neither a comparison that
// takes as long as the texts agree nor a formatting verb that prints fields compiles into a leak.
package secret
