// Package planted is a list of bugs that storage adapters have had, or could have, and a test
// that package storagetest sees them. The test file of an adapter may hold its own Backend to it:
//
//	func TestPlantedBugs(t *testing.T) {
//		planted.Run(t, func(t *testing.T) driver.Backend { return open(t) })
//	}
//
// A bug is planted between the contract and a Backend that has none: it changes what goes into
// one method, or what comes out, or what happens between two steps of it. So each runs on every
// adapter, and a promise that is only kept in memory, where no call waits, is found.
//
// # Choices
//
// A bug names the promise that should see it, and only that one is tried: a list of some 250
// against all promises would take a database minutes. That the promise holds without the bug is
// tried too.
//
// Where a bug lies in the time between two steps, it waits for a rival or some milliseconds, as
// an adapter waits for its database. A race may end well; it is run up to twelve times.
//
// # Size
//
// It is larger than a package here should be, as a list is: a file for each part of the contract.
package planted
