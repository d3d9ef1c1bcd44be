// Package urlpath reads the path of a request in all the ways in which those behind it may.
//
// A path is compared as it is written, in its escaped form, because that is what is handed on. A
// service may read the same bytes in another way: decode them, once or twice, take \ for /, drop
// the parameters behind a semicolon, or merge slashes. A caller that decides by a path what a call
// is charged to, or what it may reach, must make sure that no reading leads elsewhere.
//
// # Choices
//
// A prefix must be written as it is, letter by letter: /%61i is not /ai, although RFC 3986 has
// the two equal (6.2.2.2). Nobody writes it so by chance, and to take it for /ai is to hand on a
// path that says something else than what it was taken for.
//
// Two decodings are enough: services decode once, and a proxy between them once more.
package urlpath
