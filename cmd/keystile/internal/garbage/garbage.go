// Package garbage lets a command that ends soon end without a collection of garbage.
//
// The packages of the program allocate some 5 MB before main begins, most of which stays: a runtime that begins to
// collect at 4 MB, as Go's does, marks them for nothing, for a fifth of the processor time of "keystile version". So
// it begins at 16 MB until Collect is called, which all do that open a store. The package imports nothing else, so
// that it is initialized before what allocates.
package garbage

import "runtime/debug"

const heldBack = 400 // percent, in place of 100

var percent = debug.SetGCPercent(heldBack)

// Collect has garbage collected from now on as GOGC says.
func Collect() { debug.SetGCPercent(percent) }
