// Package profile serves the page on which users change what they say of themselves.
//
// # Choices
//
// The username stays: applications know people by it, and another could take it. To change the rest takes
// no fresh sign-in: it lets nobody in. It is on the audit trail, as the names of the fields alone.
//
// A field that was left as it is is not checked: a provider may have filled it with what nobody would be
// let type here, such as a picture without https, and its owner must be able to change the others.
package profile
