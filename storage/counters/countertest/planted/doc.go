// Package planted is a list of bugs that counters of several nodes have had, or could have, and a test
// that package countertest sees them. The test file of an adapter may hold its own Counters to it:
//
//	func TestPlantedBugs(t *testing.T) { planted.Run(t, open) }
//
// A bug is planted between the contract and Counters that have none: it changes what goes into one method,
// or what comes out, or puts a count of its own in its place, as one would write it who does not know
// better.
//
// # Choices
//
// A bug names the promise that should see it, and only that one is tried; that the promise holds
// without the bug is tried too. Bugs of full tables need a Service that says how it is filled.
//
// All bugs have to be seen: a list of which some are not is one of wishes. A race may end well; it is run up
// to twelve times.
package planted
