// Package profile serves the page on which users change what they say of themselves.
//
// # Choices
//
// The username stays: applications know people by it, and another could take it. To change the rest takes
// no fresh sign-in: it lets nobody in. It is on the audit trail, as the names of the fields alone.
//
// A field that was left as it is is not checked: a provider may have filled it with what nobody would be
// let type here, such as a picture without https, and its owner must be able to change the others.
//
// Of attributes, the page shows and changes those that the operator lists, and no others. Administrators set these too,
// so a form says which text of each it was shown with: one that was left alone keeps what an administrator has said
// meanwhile, and a change of one that is not what was shown any more is refused. A form without the field of an
// attribute changes nothing of it: it was shown before the attribute was listed.
package profile
