// Package guides holds the README and the guides of examples/ to what they say, by its tests: each
// fits on its page and is in the index, links lead to files, the programs, commands and flags that are
// named exist, Go is text of a compiled file, and YAML is a configuration that the program takes.
//
// A block marked sh is a script: it is run by bash in the folder of its guide, with keystile in the
// path, and fails with its first command that does. One that starts no service is run behind the first one of its
// page. A line that is only indented is looked at and not run: it waits for a person, or ends never.
//
// A block marked go may leave out lines that the file has between its own, and nothing else.
package guides
