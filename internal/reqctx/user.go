package reqctx

import "context"

// Key names what requests of a user are counted by.
type Key struct {
	Name  string  // a kind, a blank and whose it is: no client_id is like it
	Share float64 // of what an address may make in a minute
}

// Shares of what an address may make in a minute (decision 24) that belong to a user.
const (
	sessionShare = 1   // a session
	userShare    = 4   // all sessions of a user, however many there are
	tokenShare   = 1   // codes redeemed and tokens refreshed, or polls of one device
	signInShare  = 0.1 // sign-ins: a password takes a processor much longer to check than anything else
)

// ChargeSession counts the request against a user's session, and no longer against the address it
// came from: those who share an address do not use up each other's rate. An error is a
// *reply.Failure: the session, or all sessions of its user, make too many requests.
func ChargeSession(ctx context.Context, session, sub string) error {
	return chargeTo(ctx, true, Key{"session " + session, sessionShare}, Key{"user " + sub, userShare})
}

// ChargeSignIn counts a request that has signed in a user against them. Requests beyond a person's
// rate of sign-ins stay with the address.
func ChargeSignIn(ctx context.Context, sub string) {
	chargeTo(ctx, false, Key{"sign-in " + sub, signInShare})
}

// ChargeGrant counts a request that has redeemed a code, or refreshed a token, against their user.
// Requests beyond a person's rate stay with the address.
func ChargeGrant(ctx context.Context, sub string) {
	chargeTo(ctx, false, Key{"grant " + sub, tokenShare})
}

// ChargeDevice counts a request of a device that waits for its user against the device_code, by an id of
// that: many devices may have one address. Requests beyond a device's rate stay with the address.
func ChargeDevice(ctx context.Context, id string) {
	chargeTo(ctx, false, Key{"device " + id, tokenShare})
	if v := From(ctx); v != nil {
		v.Identified = false // anybody gets a device_code
	}
}

// chargeTo moves the count of a request once, as Charge does. If a key is at its end the request is
// refused, or stays where it is.
func chargeTo(ctx context.Context, refuse bool, keys ...Key) error {
	v := From(ctx)
	if v == nil || v.Mover == nil {
		return nil
	}
	m := v.Mover
	v.Mover = nil
	err := m.MoveTo(ctx, refuse, keys...)
	v.Identified = err == nil
	return err
}
