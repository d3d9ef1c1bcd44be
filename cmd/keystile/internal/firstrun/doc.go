// Package firstrun fills an empty store: an administrator, and the demo's application.
//
// # Choices
//
// What is drawn is written down first, in first-run.json, and the records are made from
// it. A start that is killed anywhere in between leaves the file without its "done" in the
// store; the next one takes it up and makes what is missing, with the same password and secret.
//
// Once it is done the file is the reader's: it may be deleted. While it is there, its
// addresses follow the base_url.
//
// Without the demo its application is disabled and what it was granted is revoked, because
// its secret was made for a trial; with the demo again it is enabled, unless an operator had
// disabled it.
//
// A store that was filled by commands before the first start is left as it is.
package firstrun
