// Package archtest keeps the law of the house by its tests: what the top level holds, who
// may import whom, and which one room may import which heavy dependency.
//
// The tables are a statement of policy. A build that breaks them is mended in the code
// that breaks them; changing a table is changing the design.
//
// Tests that need the whole program, in a process of its own, have it from two packages:
// internal/test/overlay builds it, with texts of its source changed where a fault is planted, and
// internal/test/serving starts it, talks to it and ends it. internal/test/crash kills it, internal/test/powercut
// cuts the power, internal/test/bentclock sets the clock, internal/test/flood sends it more than it takes.
package archtest
