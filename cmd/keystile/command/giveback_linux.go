package command

import "syscall"

// giveBack gives the memory of a text that is all zeros back to the system, until it is used.
func giveBack(zeros []byte) {
	syscall.Madvise(zeros, syscall.MADV_DONTNEED) // if that fails it is kept, which costs memory and nothing else
}
