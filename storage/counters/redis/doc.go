// Package redis counts for several nodes together, on a server of Redis 7 or Valkey: requests of applications
// and addresses, failed sign-ins by address and account, wrong secrets, sign-ins begun and emails. It keeps what
// the nodes keep by themselves where there is one: exact sliding windows, by the clock of the server.
//
//	c, err := redis.Open(ctx, "rediss://keystile:password@redis.example.com", redis.Options{Nodes: node.Live})
//	service, err := keystile.New(ctx, keystile.Config{Counters: c, ...})
//
// # Addresses
//
// redis:// and rediss:// (TLS) name a server, unix:// a socket. More servers of a cluster are parameters:
// ?addr=host2:6379. ?master_set=name says that the servers are sentinels, and what they call the master. prefix
// and timeout are Options; db is the number of a database, client_name what the server lists the connection as,
// and protocol is 2 for a proxy that knows no HELLO and does not say so.
//
// A server in cluster mode is noticed. Every act touches keys of one slot, in one round trip; where strangers have
// filled what they are counted in, in two, since the widest networks are in slots of their own. db needs a server that
// is not in cluster mode.
//
// # While the server is away
//
// Nobody is refused because of it, and nobody waits for more than Timeout. If the server cannot be reached, takes
// no writes (READONLY, OOM, LOADING, MISCONF) or is late three times in a row, the node counts alone: it admits of
// each limit its share, limit / Nodes and at least 1, of which it has used up what it admitted before. Addresses
// that it knows to be locked stay locked. One line is logged when that begins and one when it ends;
// [Counters.Stats] has it too. The server is probed in the background, at intervals from 100 to 250 ms, and must
// answer three times in time: a second after it is mended, it counts.
//
// When it is back, the server and the share must both admit, for as long as the window of each limit is: the server
// does not know what was admitted meanwhile. The same holds when it has lost its counts, because it was emptied or
// started again, which a mark shows that every node looks for each second.
//
// So around the server's going a limit can be exceeded by what a node has not heard of the others, at most by
// itself once; when the server comes back, by nothing. A server that is emptied while it is reached admits up to
// the limit anew until the mark is missed, which takes a second at most. Where some nodes reach the server and
// others do not, those that do admit the limit and each other one its share.
//
// Whatever answers in place of the server, a proxy with errors of its own or another service, ends a connection at
// most. What it sends is bounded before it is read, and no answer is believed before it is known to be in its
// place (package internal/resp).
//
// An act whose answer is lost counts, there and here. What is to be taken back and cannot be stays counted.
//
// # What operators should know
//
// Replication is asynchronous: a replica that is promoted has not seen the last stamps, so those are forgotten, and
// its clock may differ, by which windows are so much shorter or longer once. A clock that is set back neither admits
// more nor keeps anything for longer than a window. Persistence is not needed: what is counted is worth minutes.
//
// maxmemory-policy should be noeviction: a full server then refuses writes, and each node keeps its share.
// volatile-ttl drops the counts that end first, for which a few more are admitted. With allkeys policies
// the server forgets whatever it likes, locks too. Counts of strangers take 64 MB at a million addresses
// with a request each, and a request 10 to 12 bytes. No key is without an end.
//
// A user of its own needs: +@connection +eval +evalsha +time +get +set +pexpire +pttl +del
// +lpush +rpush +rpop +lrange +lindex +llen +ltrim +lrem +hget +hset +hsetnx +hdel +hlen +hmget +hgetall +info
// +cluster|slots +cluster|shards, on the keys keystile:* (Options.Prefix).
//
// Several services can share a server if each has a Prefix. Two Addresses with the same times are one; a
// host's page that needs its own count needs Counters with a prefix of its own.
//
// # Choices
//
// A client of our own (internal/resp and internal/servers, 1,000 lines), and neither rueidis v1.0.79 nor go-redis
// v9.23.0. Both are well kept, and both trust the server: of rueidis one line that nobody asked for ("-ERR x",
// "$-1", "*-5") ended the process, in a goroutine that no recover reaches; both make room for whatever length is
// announced, so that "*1000000000" as a greeting, or "$99999999999999" as an answer, end the process for want of
// memory. Where templates make the linker keep every method, as in cmd/keystile, rueidis was 10.1 MB of the
// program and go-redis 8.2 MB; ours is 0.1 MB. Here is needed a dozen commands, pipelining and the slots of a
// cluster. Beside a bare connection for each caller, which writes a PING and reads what comes, p50 of a PING is
// 1.1 at one caller and 1.2 at 64 (internal/resp.BenchmarkPing); of go-redis it is 1.1 and 1.9. The number that comes
// back with each write costs one PING in the server.
//
// On loopback, where nothing else costs time and a PING takes 10 µs, one request of an application takes 5 µs
// more, an address's first one 8, one over IPv6 14: p50 at one caller is 1.5, 1.8 and 2.3 of a PING by turns with
// it. A script that does nothing is 1.1 there, the time costs a microsecond, and each other command within a
// script 0.7 to 1.2. So what is commonest asks for the fewest: all rungs of an address, over IPv6 too, are one
// script and one round trip, and its first request is answered before the script defines what others need. Beside
// a hop of 50 µs that makes 1.1 to 1.3. A node that waited for less would have to admit by what it knew a moment
// ago.
//
// An application has a LIST of stamps: 10 bytes a request, and the limit-th newest says at once whether another is
// admitted. Applications are not strangers' to make up, so none is displaced.
//
// A key for each address would take 120 bytes before it holds anything. So addresses are fields of HASHes that
// stay listpacks: 24 bytes each with one request, the name being 8 bytes of a hash with a seed that nodes share and
// strangers do not know. From the seventh stamp on an address has a LIST. There are 16,384 such buckets
// of up to 120; if one is full of live fields, an address that it does not hold is counted by the networks around it
// (decision 56), which refuse and never lock. Memory is bounded, whatever is sent.
//
// The seed is random and lives in the server, in the mark. Who reads the server's memory sees the counts
// anyway, and a seed of the configuration would be one more secret to distribute. A node that finds the mark gone puts
// its own seed back, so that all go on to agree.
//
// Addresses of one IPv6 /48 have their buckets in one slot, with the counts of the /56 and the /48, so these are
// counted in the same round trip. A crowded /48 fills its own eight buckets first; its addresses are then counted by
// the /56, as they are anyway. Networks are counted by eighths of the window, as package network does.
//
// Attempts in flight keep a place that ends by itself, as a failure would: a node that dies with one holds nobody
// for longer. At an account, where one in flight holds up all others, that is a minute.
//
// A stamp is the server's time, and one microsecond more than the last where that is needed to tell them apart:
// what is taken back is exactly what was held.
//
// The context of a call is not given to the server: hanging up must not be a way not to be counted.
//
// While one of a cluster's masters is away, none is asked. Judging by part of the slots would need a state for each,
// and a failover takes seconds.
package redis
