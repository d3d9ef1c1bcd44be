// Package client holds what is known of applications that nobody registered here (decision 55): they
// are described by a document at their client_id (Client ID Metadata Documents), or have registered
// themselves (RFC 7591).
//
// A [Description] is part of a storage.App, and what it says was said by the application itself: nobody has checked it. A
// [Host] is an operator's word on whose documents are admitted.
//
// # Choices
//
// Such an application has no owner, no secret and no domains. It ends by itself unless a user
// consents to it, which Description.KeptAt says.
//
// A redirect_uri is matched exactly, but for the port of a loopback host, which the operating system gives
// (RFC 8252 7.3). Schemes that a browser runs, reads or hands to something else than an application that waits
// for a code are refused.
//
// A client_id of a self-registration has a prefix that no other has ([DynamicPrefix]), and one of a document is an https
// URL: which of the three an id is of is seen without the store.
package client
