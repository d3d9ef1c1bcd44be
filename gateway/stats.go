package gateway

import "errors"

// Health returns what keeps the gateway from working as it should, nil if nothing does.
func (g *Gateway) Health() error { return errors.Join(g.ledger.Health(), g.c.Trail.trail.Stats().Err) }

// Stats holds counters since the gateway was made.
type Stats struct {
	Charged  uint64 // calls counted against a quota
	Repeated uint64 // repetitions under an Idempotency-Key, which were not charged again
	// calls with a key that were charged without a look at it, or are not remembered: the store was away, or
	// too many are
	Unremembered uint64
	StreamsEnded uint64 // calls that went on when their token ended, or their time, and were ended with it
	OverRate     uint64 // requests refused because there were too many
	Uncounted    uint64 // calls that were not answered because they could not be counted
	AuditStored  uint64 // events on the trail
	AuditWaiting uint64 // noted, and not yet stored
	AuditLost    uint64 // that found the queue full

	AuditLostAnonymous uint64 // events of nobody who is known, that came too late to be summed

	// Shadowed has the requests that were let through over a rate of Config.Shadow: by tier, and under
	// "address". nil if every rate refuses.
	Shadowed map[string]uint64

	// JournalMapped: charged calls are stored into memory that the file of the journal shares, not
	// written to it one by one. It takes less time, and a kill loses none either way.
	JournalMapped bool
}

// Stats returns the counters.
func (g *Gateway) Stats() Stats {
	trail := g.c.Trail.trail.Stats()
	var repeated, unremembered uint64
	if g.repeats != nil {
		repeated, unremembered = g.repeats.Stats()
	}
	return Stats{
		Repeated: repeated, Unremembered: unremembered,
		StreamsEnded: g.streamsCut.Load(), Charged: g.charged.Load(), OverRate: g.overRate.Load(),
		Uncounted:   g.uncounted.Load(),
		AuditStored: trail.Stored, AuditWaiting: trail.Waiting, AuditLost: trail.Lost,
		AuditLostAnonymous: trail.LostAnonymous,
		JournalMapped:      g.ledger.Mapped(), Shadowed: g.shadows.counts(),
	}
}
