// Package userfile reads the users of other products from the files that these export: row by row, however large a file
// is.
//
//	f, err := userfile.Open("realm.json", "keycloak", nil)
//	for item, err := range f.Items() { ... }
//
// # Choices
//
// A row that cannot be read is an Item that says why, and the next one follows. A file that cannot be read further is
// an error: it has something else than JSON in the middle of a document, or a row of more than a mebibyte.
//
// Nothing is left out in silence that decides who somebody is, or lets them in: a hash of a kind that is not verified
// here, an identity at a provider whose issuer is not known, and two names that would become one, refuse the row.
// Roles, second factors, and the fields that only decorate a profile elsewhere, are not read at all.
//
// Names of groups and attributes of other products are written as ours are: in lower case, with "-" or "_" for all that
// a name cannot have.
package userfile
