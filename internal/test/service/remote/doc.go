// Package remote has the tests of package gateway/remote that need the provider or sign-in, for which its
// importers would pay.
package remote
