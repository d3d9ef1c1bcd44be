// Package apps shows and changes applications, and shows the clients that nobody registered.
//
// # Choices
//
// A page of an application has code for several libraries. Every value in it is written as a
// literal of its language with all but plain characters escaped, so that no value ends its literal.
//
// What says whether a redirect_uri is allowed is what authorize itself asks.
package apps
