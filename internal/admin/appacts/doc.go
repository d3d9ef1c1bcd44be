// Package appacts holds the acts of administration on applications: making, changing and deleting them, their secrets,
// their orders and tiers ([Acts]), and what is said of clients that nobody registered and of their hosts ([Clients]).
//
// Administrators and the operator do all of it. Owners do what concerns their own applications, as far as no operator
// holds a field of them; an application that acts for itself rotates its secret, orders, and takes back an order that
// waits. For a record of another owner it is storage.ErrNotFound, which tells nothing.
//
// Package gateway/billing, behind the interface [Billing], decides what tiers cost and how an order takes effect.
package appacts
