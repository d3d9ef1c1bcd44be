// Package usernames says which usernames there can be.
package usernames
