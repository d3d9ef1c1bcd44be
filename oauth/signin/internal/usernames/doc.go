// Package usernames decides which usernames are valid, and finds them.
package usernames
