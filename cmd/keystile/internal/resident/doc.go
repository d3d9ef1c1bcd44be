// Package resident gives back the memory that only the start of a program has used.
//
// Under Linux that is also the program itself: what a start has read of its file, to run it once, counts as memory of
// the process until the system needs it for something else. Given back, it stays in the system's cache of files, and
// what is used again comes back from there, page by page, without a read of the disk.
package resident
