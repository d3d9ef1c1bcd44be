// Package peers runs stock clients, unmodified, against the service: what they refuse is a
// fault of ours, whatever our own tests say. It holds tests only.
package peers
