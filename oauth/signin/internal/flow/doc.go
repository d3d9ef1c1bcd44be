// Package flow holds the steps that all sign-in methods share.
package flow
