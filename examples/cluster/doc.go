// Package cluster holds no code: README.md beside it is a guide to two nodes of Keystile on one
// PostgreSQL with a synchronous standby, with Redis, behind a balancer. Its tests try each file: real
// nginx and HAProxy before two nodes pass sign-ins, streams and restarts of the nodes under load.
package cluster
