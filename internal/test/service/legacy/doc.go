// Package legacy has the tests of package legacy that need the provider or sign-in, for which its importers would pay.
package legacy
