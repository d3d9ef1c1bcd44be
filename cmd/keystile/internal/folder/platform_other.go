//go:build !unix

package folder

import "io/fs"

// Elsewhere access is by lists that are inherited from the folder above, and modes mean
// nothing: keep the data folder where only its owner may go.

func shared(fs.FileMode) bool { return false }
func mine(fs.FileInfo) bool   { return true }
func narrow(uintptr)          {}
