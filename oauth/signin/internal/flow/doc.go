// Package flow holds the steps that all ways to sign in share.
package flow
