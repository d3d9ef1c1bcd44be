// Package clientdoc reads client metadata documents (Client ID Metadata Documents, decision 55): it
// checks the URL that is a client_id, fetches what is there, and makes a client.Description of it.
//
// A document is written by a stranger. The documents that pass have one reading: one spelling of
// the URL, one value of each member, names without characters that are not seen. A member that is
// not known is ignored; one that is known and has the wrong type is refused.
//
// # Choices
//
// The URL of a document is stricter than the draft has it: it names a host by a DNS name in lower case
// that has a dot and is no special-use one, its path is more than a slash, and it has no query. An
// address, or a name that only means something inside a network, is for hosts that the operator names
// in Config.Allow. This is for clear answers; what is dialled, netguard decides.
//
// A document that cannot be read and one that is wrong are told apart ([Problem]): the first is
// worth another try. Neither is remembered here.
//
// Of a document that prefers private_key_jwt and also admits none, the keys are wanted: who can sign
// has to.
//
// grant_types as they are left out mean authorization_code and refresh_token: RFC 7591 says the
// first alone, and those who leave them out want to stay signed in.
package clientdoc
