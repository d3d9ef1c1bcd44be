//go:build linux

// Command bench measures the service over HTTP, beside what this machine allows, and prints
// the table of README.md beside it.
//
//	go -C internal/test/campaigns run ./bench                 everything, some minutes
//	go -C internal/test/campaigns run ./bench --row 5         one row
//	go -C internal/test/campaigns run ./bench --large         rows 3 and 10 with a million stored tokens too
//	go -C internal/test/campaigns run ./bench --row 4 --peers beside nginx, Caddy and HAProxy, where they are installed
//	go -C internal/test/campaigns run ./bench --row 1 --peers beside another OpenID provider; row 6 too
//	go -C internal/test/campaigns run ./bench --pair --against OTHER    beside another keystile, all at the same time
//	go -C internal/test/campaigns run ./bench --growth 1000,100000      what becomes slower with what is stored
//	go -C internal/test/campaigns run ./bench --growth 1000,100000 --postgres URL    the same of its schemas
//	go -C internal/test/campaigns run ./bench --row 3 --strace DIR      with the system calls of each server counted
//	go -C internal/test/campaigns run ./bench --row 1 --perf DIR        with what perf records of each server
//
// # Choices
//
// Each figure is a ratio to a floor that is measured in the same rounds on the same
// processors: a server that does the transport's part of the work and nothing else, a
// commit, a flush of the disk. Rounds take turns; what is printed is the median of the
// rounds and how far they lie apart. Rates of machines differ, ratios less so. Where others
// work on the machine too, even ratios of turns are noise: --pair loads all contenders at the
// same time and compares what each takes of the processors for a unit of work, without what
// its clients take.
//
// Floors and peers are sent the same headers as the service, and those in Go have the ballast
// that lets it collect garbage less often.
//
// It runs on Linux: what a server takes is read from /proc.
//
// Client and servers share the processors, so a client that costs little matters: it is
// in conn.go. The processor time of a server is what the kernel charges its process.
//
// The peer of the code flow is fosite as its documentation shows it, in memory. Only
// oauth/internal/engine may import fosite, so it is a benchmark of that package, compiled
// here and run as a process. The peers of row 4 have their configurations in the folder peers; the
// processor time of those that ask about each call is their own, without that of the service that they ask.
package main
