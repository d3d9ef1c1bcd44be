// Package calls counts the calls that requests to a whole service make at its storage Backend: each is a round trip
// where the records are in a database.
package calls
