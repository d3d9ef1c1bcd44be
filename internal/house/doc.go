// Package house keeps the law of the house by its tests: what the top level holds, who
// may import whom, and which one room may import which heavy dependency.
//
// The tables are a statement of policy. A build that breaks them is mended in the code
// that breaks them; changing a table is changing the design.
package house
