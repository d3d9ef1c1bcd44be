// Package lostanswer has tests of a service whose database does what it is told, and whose answers
// get lost. They cut the connection between the commit and the reply at each statement of what
// clients do, from signing in to a tool call: what a client is told is then right, or a 503 that it
// may repeat, and nothing happens twice.
//
// They need a PostgreSQL server; without KEYSTILE_POSTGRES_URL they skip. The service runs in a
// testing/synctest bubble, whose clock stands still while the database works and jumps over the
// pauses between attempts. The wire and the upstream of tools are outside of it.
package lostanswer
