// Package overview is the first page of the console: what runs, who calls what and what needs the reader. It covers
// the whole service for readers of all, and for everybody else their own applications.
//
// # Choices
//
// Figures that change with each call are read for each page: the last day's calls in two reads, and the counts of the
// store in one. Those that change slowly, such as keys, nodes, capabilities and the most frequent callers, are read at
// most once in fifteen seconds by a process; while they are read again, other requests get the ones before.
//
// A part that cannot be read is said to be missing, and the rest is shown.
//
// Somebody's own page has the usage of as many of their applications as fit into four reads; the others have a link to
// theirs.
package overview
