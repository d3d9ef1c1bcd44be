// Package apps shows and changes applications, and shows the clients that nobody registered.
//
// # Choices
//
// A page of an application has code for several libraries, which signs a user in and verifies the id_token as this
// application gets it; internal/test/campaigns/peers/snippets runs it. Every value in it is written as a
// literal of its language with all but plain characters escaped, so that no value ends its literal.
//
// Whether a redirect_uri is allowed is decided by the function that authorize asks.
package apps
