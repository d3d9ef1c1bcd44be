// Package stores tries package repeat on every adapter. It is apart so that importers of the gateway do not pay for
// what the adapters import.
package stores
