// Package firstrun fills an empty store as package internal/firstrun does; the application is the demo's.
//
// Without the demo its application is disabled and what it was granted is revoked, because
// its secret was made for a trial; with the demo again it is enabled, unless an operator had
// disabled it.
package firstrun
