// Package clientip finds the address of a client that comes through reverse proxies.
//
//	at := clientip.Behind(netip.MustParsePrefix("10.0.0.0/8"))
//	g, err := gateway.New(ctx, gateway.Config{ClientIP: at, ...})
//
// A host behind a proxy makes one function and gives it to every package as ClientIP. Without
// it all users behind that proxy share one rate and one lockout. keystile.New makes its own
// from Config.TrustedProxies.
//
// # Choices
//
// X-Forwarded-For is read from the right, and only where the peer is a trusted proxy: a client can write what
// it likes at the left of it. The last address that is no trusted proxy is the client, so a proxy in front of a
// proxy is named too, or it is the client of everybody.
//
// A function and no interface: each package asks for an address and knows nothing of proxies.
package clientip
