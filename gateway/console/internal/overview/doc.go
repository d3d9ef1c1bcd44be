// Package overview shows at one glance what runs, who calls what and what needs the reader: the whole
// service to who may read it, and to everybody else their own applications.
//
// # Choices
//
// What moves from call to call is read for each page: the last day's calls in two reads, and the
// counts of the store in one. What changes slowly, such as keys, nodes, capabilities and who called
// most, is read at most once in fifteen seconds by a process, whoever looks; while it is read again,
// others are shown what was read before.
//
// A part that cannot be read is said to be missing, and the rest is shown.
//
// Somebody's own page has the usage of as many of their applications as fit into four reads; the
// others have a link to theirs.
package overview
