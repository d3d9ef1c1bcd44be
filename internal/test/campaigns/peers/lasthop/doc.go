// Package lasthop runs the code of examples/behind/CALLERS.md, by which services verify who calls, on statements as an
// upstream gets them and on what is none.
package lasthop
