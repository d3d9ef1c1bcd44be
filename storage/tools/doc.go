// Package tools keeps capabilities with their tools, who may use them, bundles of them, changes that wait for
// their owner, and the deliveries that announce what has changed.
//
// Programs use its records and methods by package storage, which names them as its own:
//
//	c, err := store.SaveCapability(ctx, storage.Capability{Member: "shop", Kind: storage.CapabilityREST}, list)
//
// A capability and its tools are written in one step, and so are the deliveries of a change: no change without
// its event, no event without its change. Errors are those of package storage.
//
// # Choices
//
// The tools are a packed document of their own: a list of capabilities does not read them.
//
// The name of a capability that is deleted is kept for its owner for 90 days, so that nobody else is called in
// its place.
//
// The deliveries of one Member are a queue, and one that is full drops the oldest that was not tried: the first
// keeps its place, or a queue that is always full would never finish its attempts.
package tools
