// Package program runs other people's servers for a test: it finds an address, starts them, and waits until
// they answer.
package program
