package config

import "github.com/keystile/keystile/storage/trust"

// assertionKeys are about assertions that are redeemed for tokens.
func (c *Config) assertionKeys() []key {
	return []key{
		{name: "assertions.issuers", kind: "list of objects", objects: true, prose: true, never: inFlag, help: "whose " +
			"assertions are redeemed for access tokens, beside those of keystile issuer add: issuer; use, which is id-jag, " +
			"of users, or workload, of programs; jwks_uri (as its discovery document says); audience, of a workload (our " +
			"issuer); create, whether an unknown user becomes one (no); scopes, which bound what a user's can grant (all " +
			"but apps); rules, a list of subject, claims and client_id, which say what application a workload is; " +
			"allow_private, where its keys may be read although it is private, by http too",
			example: `[{issuer: "https://idp.example.com", use: id-jag, create: true, scopes: [openid, tools]}]`,
			set:     maybe(c.setIssuers)},
		{name: "assertions.token_endpoint_audience", kind: "true or false", fallback: "false", help: "whether aud of a " +
			"client_assertion of a registered application may be the token endpoint, as older libraries write it; " +
			"otherwise it is the issuer alone", example: "true", set: boolean(&c.Assertions.TokenEndpointAudience)},
	}
}

func (c *Config) setIssuers(s string) (err error) {
	c.Assertions.Issuers, err = trust.Parse([]byte(s))
	return err
}
