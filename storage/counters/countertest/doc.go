// Package countertest holds what several nodes count together to its contract: rates of applications and
// addresses, the lock of addresses and the delay of accounts after failed sign-ins, and counts of wrong
// secrets and emails. The test file of an adapter, such as one for a server of Redis's protocol or for a
// database, is a few lines:
//
//	func TestContract(t *testing.T) {
//		countertest.Run(t, func(t testing.TB) countertest.Service {
//			place, clock := emptyPlace(t), newClock()
//			return countertest.Service{
//				Node:  func() counters.Set { return connect(t, place, clock) },
//				Clock: clock,
//			}
//		})
//	}
//
// and its value can then be given to keystile.Config.Counters. A counter of this process alone runs in
// bubbles of testing/synctest: [RunInBubble]. [Local] is such a value. [Exact] asks many nodes at once
// by real time. Package planted tells whether the contract sees what is wrong with an adapter.
//
// Every test is a promise in plain words, and the whole list of them (go test -v) is the contract. Run
// with -race as well.
//
// # Time
//
// A server counts by its own clock, which a test cannot move. Three ways lead through the contract:
//
//   - An adapter that can hand the time to its server in tests, such as a script that takes a stamp,
//     brings a [Clock], and every promise is tried. Its times need not be those of any clock: they only
//     move forward, by whole milliseconds.
//   - Where everything is counted in this process, the clock is that of a bubble.
//   - Where no clock can be moved, Clock is nil. Promises that wait for minutes are not tried, as the
//     log says, and in their place a Counter is asked for windows of a second, by real time.
//
// The time given to a Limiter is that of Clock. An adapter whose server has a clock counts by that one,
// or each node would have a window of its own; it may use what it is given under test alone.
//
// # What an adapter may do
//
// An event may leave its window late, and the times that are told may be wrong, by [Service.Grain]: stamps
// that must be unique are moved by a microsecond each, say. An event never leaves early. The counts of
// networks leave up to an eighth of the window late.
//
// The wait of a refused attempt for others that are in flight may have any length. The answers of a node
// that cannot reach its server are not either: it must answer soon, and refuse no request because of it.
//
// A node may keep what it needs to end an attempt or take a request back: both come to the node where
// it began. Everything else comes to any node.
//
// # Choices
//
// Each promise gets an empty [Service] of its own, and speaks to two of its nodes in turn, so that whatever
// one node keeps to itself breaks promises. Those about many callers speak to both at once.
//
// # Size
//
// It is larger than a package here should be: it is a list of promises, a file for each part of the
// contract.
package countertest
