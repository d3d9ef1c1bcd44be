// Package host has the tests of the whole service in a program of somebody else's: its first run, what it says at its
// root, and users that are not those of the store.
package host
