// Package usage shows what was called: of one application, or of the whole service.
//
// # Choices
//
// Calls are summed by time and by name, at most a hundred names; the file has every row. The whole
// service's figures are for readers of all. Its most frequent callers are read from
// rankings, so a number may be one that the name has at least. A page shows at most 120 columns: more
// hours are summed.
package usage
