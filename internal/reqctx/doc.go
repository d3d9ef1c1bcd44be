// Package reqctx carries what the gateway has found out about a request to the packages
// behind it, so that none of them has to find it out again: whom its bearer token speaks
// for, and against whom it was counted.
//
// A request that brings no valid bearer is counted against its address. A package that then learns,
// by an application's secret, which application calls, calls Charge: the count moves from the
// address to the application, at the application's own rate. A package that finds a user, by a live
// session or by a proof, calls ChargeSession, ChargeSignIn or ChargeGrant: the count moves to the
// user. For a device that waits for its user, ChargeDevice moves it to the device. A failed attempt
// stays with the address. A package that is served without a gateway finds nothing in the context,
// and nothing happens.
package reqctx
