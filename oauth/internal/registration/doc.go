// Package registration reads what applications say when they register themselves (RFC 7591), and
// counts how many may.
//
// # Choices
//
// Every application that registers itself becomes a public one: it is told token_endpoint_auth_method none,
// whatever it has asked for, which RFC 7591 3.2.1 allows. A secret that anybody gets for the asking proves
// nothing, PKCE protects the code without one, and rotation the refresh token. That holds for private_key_jwt
// as well: an application that has keys can publish a metadata document, and then users see a host behind them.
// So keys and jwks_uri are neither read nor fetched.
//
// Members that are not known are ignored, whatever they hold: clients send application_type,
// software_id, client_uri, resource and more. logo_uri and other addresses are not kept: nobody has checked
// whose logo it is, and the browser of a user who is asked for consent would fetch it. A software
// statement is not read, because nobody whom this service trusts signs one.
//
// One redirect_uri that is refused does not fail the others: some clients send those of each of their
// editions. The answer has those that were taken, and a client that reads it knows.
//
// grant_types may name what this service does not have; that is left out. Every
// application that may redeem codes may refresh, because each code brings a refresh token here.
//
// The text is one JSON object of at most 8 KB in which no name stands twice. Nothing is counted or
// stored before all of it is right, so a broken client does not use up what its network may do.
//
// # Who may register how often
//
// One address may register 30 an hour and 100 a day; the networks around it as decision 56 says; all together 2,000 a
// day, because each registration is a record in the store that lasts a day. Each address has 4 a day beyond that
// total, see package allowance.
package registration
