// Package local keeps, in one process, the counts by which a node judges alone while the server that
// counts for all nodes is away. They are kept while it is there too, so that a node's share of a limit is used
// up already by what the node has admitted.
//
// The limit is said at each call, because it depends on how many nodes are alive.
package local
