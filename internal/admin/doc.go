// Package admin is the one place for acts of administration: whoever changes a user, an application or a setting of
// somebody else's, by the console, the command line or /api/v1, does it through a function of this package or of one
// below it.
//
// An act is a function of a context, an [Actor] and a change. It alone
//
//   - refuses an actor who may not do it (decisions 18, 52 and 57),
//   - changes the record, in one atomic step of the store,
//   - ends what the change must end: sessions, tokens, keys,
//   - writes it to the audit trail, each value before and after, with its actor and its subject ([Recorder.Note]),
//   - notifies the users whom it concerns ([Recorder.Notify]), and drops what is cached of the record,
//
// and it returns the record before and after. A front reads its input, calls the act and shows what it returns. So
// an act has the same consequences whichever front it came through.
//
// Reading needs no act. Changes that users make to their own account are in package oauth/signin.
//
// # Errors
//
// A refused actor gets a [reply.Failure] of failure.go. A change that the record does not allow is an error of package
// storage (ErrInvalid, ErrExists, ErrNotFound, ErrConflict, ErrLastAdmin, ErrStillOwns), and nothing is stored then.
// Any other error means that the act may have happened; it can be done again.
package admin
