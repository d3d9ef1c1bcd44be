// Package storagetest holds a [driver.Backend] to its contract. The test file of an
// adapter is a few lines:
//
//	func TestContract(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
//	}
//
//	func TestReopen(t *testing.T) { storagetest.RunDurable(t, open) }
//
// Every test is a promise in plain words, and the whole list of them (go test -v) is the
// contract: a Backend that passes can carry Keystile. Run with -race as well.
//
// # Choices
//
// No test sleeps or reads a clock; times are made up, and handed in as the contract requires.
//
// Each promise gets a Backend of its own, opened by the adapter's function and closed by
// this package, once. Promises run in parallel.
//
// What the contract leaves open is not tested: how much more than n a Sweep may remove
// (up to three times n passes), or the context's error against a quick success. Where two
// readings were possible this package chose one: a document is listed once for each of
// its different entries in the span, and next is "" on the page that ends the span, also
// when that page is full.
//
// # Size
//
// It is larger than a package here should be: it is a list of promises, a file for each part of
// the contract.
package storagetest
