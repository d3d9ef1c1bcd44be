// Package webhook notifies the owners of capabilities of changes: it makes the events
// capability.registered, capability.updated, capability.removed and capability.changed, signs them and sends
// them as Standard Webhooks 1.0 has it.
//
// [Events] makes the deliveries that belong to a change. The store writes them in one step
// with the change itself, and the [Sender] sends what is due: at once after [Sender.Wake],
// or after a restart, or on another node.
//
// Package oauth sends logout tokens and user events with it, by a Compose that makes their messages at each attempt.
//
// # What is promised
//
// At least once: a delivery leaves the store only after a 2xx or a 410 was read. A process
// that dies between the two, or two nodes whose clocks are more than a lease apart, send it
// again, with the same webhook-id. Receivers keep the ids they have seen.
//
// In order: of one capability, an event is sent when the one before it was delivered or given up.
// An event that was sent twice may arrive after its successor.
//
// A failed attempt is repeated after 5 s, 30 s, 5 min, 30 min, 2 h, 5 h, 10 h and 14 h, each
// up to a tenth longer, so that receivers which failed together are not asked together.
// After nine attempts, some 32 hours, the delivery is given up and stays readable for
// storage.DeliveryLife.
//
// Some events do not arrive: one that was given up; one that waits when the capability is
// registered with another URL; and, when more than storage.MaxWaiting wait, the oldest that was not
// tried. An event says that something changed, not what it is now: receivers ask.
//
// # Choices
//
// The attempt is counted before it is made. A process that dies of a delivery gets to the
// end of its attempts all the same.
//
// Without a secret there is no webhook-signature: a signature with an empty key would look
// like proof, and anybody could make it.
//
// A secret that begins with whsec_ but is not base64 behind it counts as raw bytes, like
// any other text.
//
// A receiver that hangs holds one of four places for up to 15 s. Deliveries are small and
// few; a place for each receiver would be more machinery than they are worth.
package webhook
