// Package client holds what is known of applications that nobody registered here (decision 55): they
// are described by a document at their client_id (Client ID Metadata Documents), or have registered
// themselves (RFC 7591).
//
// A [Description] is part of a storage.App, and what it says was said by the application itself: nobody has
// checked it. A [Host] is an operator's word on whose documents are admitted.
//
// # Choices
//
// Such an application has no owner, no secret and no domains. It ends by itself unless a user
// consents to it, which Description.KeptAt says.
//
// A redirect_uri is matched exactly, but for the port of a loopback host, which the operating system gives
// (RFC 8252 7.3). A private-use scheme is a domain name in reverse or that of an agent that is known: a list of
// those that are dangerous would always lack some.
//
// A client_id of a self-registration has a prefix that no other has ([DynamicPrefix]), and one of a document is
// an https URL: which of the three an id is of is seen without the store.
package client
