// Package storagetest holds a [driver.Backend] to its contract. The test file of an
// adapter is a few lines:
//
//	func TestContract(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
//	}
//
//	func TestReopen(t *testing.T) { storagetest.RunDurable(t, open) }
//
//	func BenchmarkContract(b *testing.B) {
//		storagetest.Bench(b, func(b *testing.B) driver.Backend { return open(b, b.TempDir()) })
//	}
//
// Where several processes may share a store, the suite also runs on [Nodes] of one. Package
// planted tells whether it sees what is wrong with a Backend.
//
// Every test is a promise in plain words, and the whole list of them (go test -v) is the
// contract: a Backend that passes can carry Keystile. Run with -race as well.
//
// # Choices
//
// No test sleeps or reads a clock; times are made up, and handed in as the contract requires.
//
// Each promise gets a Backend of its own, opened by the adapter's function and closed by
// this package, once; those about Close open some sixty. Promises run in parallel.
//
// Races are lost to be seen: calls start at one moment, beside others that are long, in opposite
// orders. Each promise is tried by bugs that break it (package planted), on a slow Backend and on
// a quick one.
//
// Open points of the contract are not tested: gaps between versions and Seqs, nil against empty,
// what becomes of a call whose error is no verdict, how much more than n a Sweep may remove (up to
// three times n passes), or the context's error against a quick success. Where two readings were
// possible this package chose one: a document is listed once for each of its different entries in
// the span, and next is "" on the page that ends the span, also when that page is full.
//
// # Size
//
// It is larger than a package here should be: it is a list of promises, a file for each part of
// the contract.
package storagetest
