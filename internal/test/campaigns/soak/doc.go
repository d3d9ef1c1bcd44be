// Command soak has several keystile serve under load for a long time, with restarts, faults and rotations
// of keys amid it, and judges whether they stay what they were.
//
//	go -C internal/test/campaigns run ./soak                                  # half an hour, three nodes on PostgreSQL
//	go -C internal/test/campaigns run ./soak --minutes 1 --nodes 2
//	go -C internal/test/campaigns run ./soak --minutes 720 --rate 50 --json report.json
//	go -C internal/test/campaigns run ./soak --storage bolt --minutes 10
//	go -C internal/test/campaigns run ./soak --minutes 1 --plant goroutines   # a leak that it has to find
//
// It exits 1 if something has grown or was not kept, and 2 if the question could not be asked.
//
// # What runs
//
// N nodes, of which the first is never restarted; a PostgreSQL, and a Redis if one is installed, of the
// soak's own; the service behind the gateway and a tool; a mail server; and a balancer, which sends each
// request to the next node whose /healthz/ready is 200 and sends nothing twice that is not safe.
//
// People and programs come to all rooms: sign-in with a password, at a low rate; code with PKCE, rotation,
// client_credentials, devices, revocation, introspection; charged calls through the gateway and those that
// another gateway asks about; tools; the console; the old endpoints; codes by mail; streams of services
// and of the bus, and callers who hang up. A calibration finds what
// the machine gives, and the load is a share of that (--share), or what is said (--rate).
//
// # What happens
//
//	rolling          all nodes but the first, one after the other, by SIGTERM: no excuse
//	kill             one of them, by SIGKILL: requests that it had may go unanswered
//	upstream-away    calls through the gateway and of the tool may fail
//	upstream-slow    it answers 300 ms later: no excuse
//	mail-away        no excuse: mails wait
//	database-cut     all connections end (pg_terminate_backend): 503 with Retry-After may come
//	redis-restart    no excuse: each node counts alone
//	key-rotation     of the key that signs tokens: no excuse, and the key of each token is published
//	secret-rotation  of an application: no excuse
//
// # What is judged
//
// RSS without mapped files, the heap after a collection, open files and goroutines of each process, and the
// journal of a node, have to stay level over its life (see package level). Without load, the first node has to
// come back to the files, goroutines and connections that it had before. The median time of each kind of
// request may not grow. No request fails but those that a fault explains, while it lasts and a second after it.
// Charged calls are what was answered, or little more: what was sent. Mails come. The audit trail verifies, and
// storage check finds nothing unsafe.
//
// A longer soak finds a leak of less than the tolerance: the tolerance is for the whole time.
//
// # Choices
//
// The heap is measured after a collection that the measurement itself asks for, as a profile does; else it
// would be measured how long ago the last one was. That makes RSS a little smoother than it is. The hash of a
// password takes 19 MB while it is made, so of five measurements of memory the least counts.
//
// The cache of verified tokens is built to hold 1,000 instead of 100,000: it is full within minutes then, and
// what the heap grows by is a leak. With --binary a program runs as it is, whose heap grows by some 1.5 KB for
// each token that is shown to it, until it knows 100,000.
//
// Requests amid a fault do not count for the times. A busy machine makes everything slow, and the median
// less so than the slowest: p99 is shown, and not judged.
//
// A client without an answer to a rotation gives the token up: package crash asks what became of it.
//
// The size of the database grows with the writes, and is shown: package expiry proves that expiry keeps it
// level.
//
// # Size
//
// It is larger than a package here should be: it has clients for every room, and what they need around them.
package main
