// Package registry has the tests of package registry that need the provider or sign-in, for which its importers
// would pay.
package registry
