// Package redis counts for several nodes together, on a server of Redis 7 or Valkey: requests of applications
// and addresses, failed sign-ins by address and account, wrong secrets, sign-ins begun and emails. Its limits
// are those of a single node: exact sliding windows, by the clock of the server.
//
//	c, err := redis.Open(ctx, "rediss://keystile:password@redis.example.com", redis.Options{Nodes: node.Live})
//	service, err := keystile.New(ctx, keystile.Config{Counters: c, ...})
//
// # Addresses
//
// redis:// and rediss:// (TLS) name a server, unix:// a socket. More servers of a cluster are parameters:
// ?addr=host2:6379. ?master_set=name says that the servers are sentinels, and names their master. prefix and
// timeout are Options; db is the number of a database, client_name the name of the connection at the server,
// and protocol is 2 for a proxy that does not know HELLO and does not say so. A server in cluster mode is
// recognised; db needs one that is not.
//
// # While the server is away
//
// No request is refused because of it, and none waits for more than Timeout. If the server cannot be reached,
// takes no writes (READONLY, OOM, LOADING, MISCONF) or is late three times in a row, the node counts alone: it
// admits its share of each limit, limit / Nodes and at least 1, including what it admitted before. Addresses
// that it knows to be locked stay locked. One line is logged when that begins and one when it ends;
// [Counters.Stats] has it too. The server is probed in the background, at intervals from 100 to 250 ms, and
// must answer three times in time: a second after it is mended, it counts.
//
// When it is back, the server and the share must both admit, for the window of each limit: the server does not
// know what was admitted meanwhile. The same holds when it has lost its counts, because it was emptied or
// restarted, which every node notices within a second by a mark. So when the server goes away a limit can be
// exceeded once, at most by itself; when it comes back, never. A server that is emptied while it is reached
// admits up to the limit anew until the mark is missed. Where some nodes reach the server and others do not,
// those that do admit the limit and each other one its share.
//
// Any other program at the address, such as a proxy with errors of its own, ends a connection at most: its
// bytes are bounded before they are read (package internal/resp). An act whose answer is lost counts, there and
// here.
//
// # What operators should know
//
// Replication is asynchronous: a promoted replica has not seen the last stamps, so those are forgotten, and its
// clock may differ, by which windows are shorter or longer once. A clock that is set back neither admits more
// nor keeps anything for longer than a window. Persistence is not needed: counts are worth minutes.
//
// maxmemory-policy should be noeviction: a full server then refuses writes, and each node keeps its share.
// volatile-ttl drops the counts that end first, for which a few more are admitted. With allkeys policies the
// server may forget anything, locks too. Counts of strangers take 64 MB at a million addresses with a request
// each, and a request 10 to 12 bytes. No key is without an end.
//
// A user of its own needs: +@connection +eval +evalsha +time +get +set +pexpire +pttl +del +lpush +rpush +rpop
// +lrange +lindex +llen +ltrim +lrem +hget +hset +hsetnx +hdel +hlen +hmget +hgetall +info +cluster|slots
// +cluster|shards, on the keys keystile:* (Options.Prefix). Several services can share a server if each has a
// Prefix.
//
// # Choices
//
// The context of a call is not given to the server: hanging up must not be a way not to be counted. The other
// reasons stand with the types and functions in question.
package redis
