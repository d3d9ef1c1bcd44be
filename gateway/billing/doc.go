// Package billing holds the billing rules: what a tier allows and costs ([Plan]), how an order
// of another tier takes effect, what counts against a quota, what goes beyond it, and what an
// application owes for a month ([Settlement]). The gateway's endpoints, the console and the
// command line read requests and show answers; package storage keeps the records.
//
//	g, err := gateway.New(ctx, gateway.Config{Plans: plans, Decider: bank, ...})
//	order, err := g.Billing().Approve(ctx, id, "operator", time.Time{}, nil)
//
// Without a gateway, [New] makes a Billing over a store alone.
//
// # Choices
//
// No quota interrupts anything: calls are counted, and overage is settled later.
//
// A tier is read by the clock from what was agreed on, so nothing has to run at the moment it
// changes. It is one document with the application, and is written in one step with the order that
// changes it. Of one application one order is open at a time; asking again for the same answers
// with it. A lower tier begins when the present one ends, and can be taken back until then. An
// order that has yet to begin is canceled by one that overtakes it, in the same step: it is neither
// owed nor to be taken back.
//
// A new tier has its quota whole. The hour in which a tier changes counts in the new one: the
// ledger knows hours, and an application that upgrades has most likely run out of calls.
//
// Removing an application renews nothing: what it has used of its period, up to its limit,
// counts against the applications that its owner makes before the reset: calls beyond what it
// leaves them are over, and settled. It is never usage or settled a second time itself. A call
// whose answer has not begun when the application is removed is left out, and one that another
// process has not sent yet, within a second.
//
// The protocol names no price for calls beyond a quota: Plan.OverFen is 0 until the
// operator sets one. An application that was removed leaves behind what it is settled by.
package billing
