// Package archtest holds the layout by its tests: what the top level has, who may import whom, which one
// package may import which heavy dependency, how much go doc prints, that every public package explains itself
// in a doc.go, that the README's programs compile, and that old words stay away. internal/test/campaigns/guides
// holds the rest of README and the guides.
//
// The tables are a statement of policy. A build that breaks them is mended in the code
// that breaks them; changing a table is changing the design.
//
// Tests that need the whole program, in a process of its own, have it from two packages:
// internal/test/campaigns/overlay builds it, with texts of its source changed where a fault is planted, and
// internal/test/serving starts it, talks to it and ends it. internal/test/campaigns/crash kills it,
// internal/test/campaigns/powercut cuts the power, internal/test/campaigns/bentclock sets the clock,
// internal/test/campaigns/flood sends it more than it takes.
package archtest
