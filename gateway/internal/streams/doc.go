// Package streams ends requests that go on for longer than they may: a WebSocket, server-sent events, an upload, any
// answer that takes long (decision 98).
//
// # What is promised
//
// A request that is watched ends at the end of its token and of Config.Life, and soon after Config.Look finds
// that its token or its application is good no more. First its context ends, whose cause is reqctx.ErrEnded: a
// handler may say a last word then. Two seconds later what is left is broken off: connections that were taken over
// are closed, nothing more is read or written.
//
// # Choices
//
// A request costs two entries in a list and no memory of its own, because nearly all are over before anybody looks:
// for three seconds nothing is asked about them. After that the whole list is looked at each second, by one goroutine
// for all, which is there while anything is on its way.
//
// The context is the request's own until somebody waits for its end.
//
// An error of Config.Look ends nothing.
package streams
