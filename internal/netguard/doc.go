// Package netguard makes the requests that somebody's input caused: to an upstream a user
// registered, to a document a user named. It keeps them off the inside of the network
// (server-side request forgery, OWASP API7:2023).
//
// [CheckURL] checks a URL as text, for a clear answer at registration. [Guard] checks the
// address that is dialled, in the last moment before connect(2): whatever the URL looked
// like, whatever a name resolved to and however often, no other address is reached.
//
// # Choices
//
// Addresses that are not known to be public are refused: of IPv6 everything outside 2000::/3. An
// address that carries an IPv4 address (NAT64, 6to4) is refused too; where the operator admits such
// a prefix, the address inside is still checked.
//
// A name admitted as host:port is dialled wherever it points. The operator trusts whoever
// answers for that name; a CIDR trusts nobody.
//
// HTTP/1.1 only: one call has one connection, so a call that is given up ends at the
// upstream at once, and how often a request was sent can be counted. No proxy, because a
// proxy would dial for us and could not be checked.
package netguard
