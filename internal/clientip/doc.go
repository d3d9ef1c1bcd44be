// Package clientip says which address a request comes from, and which addresses count as
// one client.
//
// By default that is the peer of the connection and no header is believed. Behind proxies
// whose addresses are named, X-Forwarded-For is read from its end, where the proxies
// write, towards its beginning, where anybody can: the first address that is not a
// trusted proxy's is the client.
//
// # Choices
//
// A hop that cannot be read ends the walk at the last proxy that could. That lumps
// clients behind one address together, which costs them a shared limit; reading on would
// let a client choose its own address, which costs us the limit.
//
// X-Real-IP, Forwarded and the like are not read: one header that all common proxies
// append to leaves no question which of two to believe.
package clientip
