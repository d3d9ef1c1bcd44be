// Package usage shows what was called: of one application, or of the whole service.
//
// # Choices
//
// Calls are summed by time and by name, at most a hundred names; the file has every row. The whole
// service's figures are for who may read what belongs to others.
package usage
