// Package roundrobin has tests of several Services over one store. A browser or a client sends each
// request to another node than the one before, as behind a load balancer that goes round: whatever
// a node remembers of a request and another needs is in the store.
package roundrobin
