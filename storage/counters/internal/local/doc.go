// Package local counts in one process: failures by address, which lock, and by account, which delay, and events by
// name.
//
// The limit is said at each call. A process that counts alone says the whole one. Where a server counts for all nodes,
// each keeps these counts too, and judges by its share of a limit while the server is away: so the share is
// used up already by what the node has admitted.
package local
