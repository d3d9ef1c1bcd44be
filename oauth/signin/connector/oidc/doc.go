// Package oidc signs users in by any provider of OpenID Connect: Google, Keycloak, Entra, Okta and
// others, and other Keystiles.
//
//	google, err := oidc.New(oidc.Config{
//		Name: "google", Label: "Google", Issuer: oidc.Google, ClientID: id, ClientSecret: secret,
//	})
//	signin.Config{Connectors: []connector.Connector{google}}
//
// The return address to register at the provider is BaseURL + /oauth/signin/with/NAME/return.
//
// # Choices
//
// Discovery happens at the first visit and then once an hour, so a service starts while its provider
// is away. A document that cannot be read again stays good; without one, visitors are told to try
// again, and the provider is asked once in five seconds at most.
//
// A user is issuer#sub, which no other issuer can say. An address of email never finds an account: whoever can make a
// provider name an address would otherwise come into the account behind it, or wait in an account that its owner will
// use. It is asked for where an application asks for it, and told to it as one that is not verified. With
// Config.TrustEmail an address that the provider has verified is a confirmed one here, unless another person has
// confirmed it. With Config.Domains such an address decides who may come in.
//
// An id_token counts if it is signed by a key of the issuer (RS256, PS256, ES256 or EdDSA), is for
// us and, where it names one, authorized for us (azp), has not expired, was not issued in the
// future, and carries the nonce of this visit. The parameter iss of the return (RFC 9207) must be the
// issuer where it is there, and must be there where the provider has announced it.
//
// The id_token says who somebody is. A userinfo that fails, is a JWT or cannot be read costs the name, and the operator
// reads it in the log, unless it is needed to let them in (Domains). One that names another person is an error.
//
// The wishes of an application (prompt, max_age, login_hint, ui_locales) are passed on. With prompt=login goes a
// max_age of five minutes, because a provider has to say then when its user signed in. Google refuses prompt=login and
// is asked to have an account chosen. auth_time is believed where the id_token has it, unless it lies in the future.
//
// Requests go where discovery says, so they go through internal/netguard: an issuer on a private network needs
// Config.AllowPrivate. Issuers of Entra that stand for several tenants are refused: any tenant could say any address.
package oidc
