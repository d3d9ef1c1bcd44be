// Package fileservers calls tools whose upstreams are stock file servers: nginx, Caddy and
// the one of net/http. Each holds files beside the folder that a tool is for, and no
// argument may bring them out. It holds tests only.
//
// # Choices
//
// nginx and Caddy must be installed, or their tests are skipped, which the check of a
// clean checkout does not forgive.
package fileservers
