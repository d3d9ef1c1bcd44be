// Package firstrun fills an empty store: an administrator, and an application.
//
// # Choices
//
// All of it is made in one step of the store, with the setting that says that it is done. So of several nodes that
// start at once on an empty store one makes it, and no other makes anything; and a start that is killed has made all
// of it or nothing, so nobody has to wait for it and nobody finishes what it began.
//
// The password and the secret are written down before that, in a draft beside the file that gets them, which takes
// the file's name when the store has taken it: a file of that name tells the truth. A start that is killed in between
// leaves a draft. The next one of its node makes the store of it, with the same password and secret; or finds by the
// setting, which has a mark of what was made, that the store has taken it, and gives it its name; or that another node
// was first, and removes it.
//
// Once it is done the file is the reader's: it may be deleted. While it is there, its
// addresses follow the base_url.
//
// A store that somebody has filled before the first start is left as it is.
package firstrun
