package token

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Bounds of assertions that are redeemed for tokens.
const (
	maxSubject  = 255            // bytes of sub
	maxIDJAG    = time.Hour      // how long ahead one ends
	maxWorkload = 24 * time.Hour // likewise
)

// Grant is an assertion that is redeemed for an access token (RFC 7523 2.1), whose signature is good.
type Grant struct {
	Subject   string
	ID        string // jti; "" of a workload that has none
	ClientID  string // of an ID-JAG
	Resources []string
	Scope     string
	HasScope  bool
	Email     string
	End       time.Time

	Claims map[string]json.RawMessage // all of them
}

// CheckIDJAG reads the assertion of a user's identity that an issuer has made for one of the audiences and nobody else
// (draft-ietf-oauth-identity-assertion-authz-grant 4.3). The errors are those of Check.
func (s KeySet) CheckIDJAG(assertion, issuer string, audiences []string, now time.Time) (g Grant, err error) {
	o, err := s.open(assertion, "oauth-id-jag+jwt")
	if err != nil {
		return g, err
	}
	c := reader{object: o}
	g.ClientID, g.ID = c.name("client_id"), c.name("jti")
	c.moment("iat") // which must be there
	if _, there := o["scope"]; there {
		g.Scope, g.HasScope = c.text("scope"), true
	}
	if _, there := o["resource"]; there {
		g.Resources = c.texts("resource")
	}
	if _, there := o["email"]; there {
		g.Email = c.text("email")
	}
	return g.checked(&c, issuer, audiences, now.Add(maxIDJAG), now)
}

// CheckWorkload reads the token of a workload that an issuer has made for one of the audiences and nobody else. The
// errors are those of Check.
func (s KeySet) CheckWorkload(assertion, issuer string, audiences []string, now time.Time) (g Grant, err error) {
	o, err := s.open(assertion, "", "jose", "jwt")
	if err != nil {
		return g, err
	}
	c := reader{object: o}
	if _, there := o["jti"]; there {
		g.ID = c.name("jti")
	}
	return g.checked(&c, issuer, audiences, now.Add(maxWorkload), now)
}

// checked checks what all of them have.
func (g Grant) checked(c *reader, issuer string, audiences []string, last, now time.Time) (Grant, error) {
	g.Claims = c.object
	iss, aud := c.name("iss"), c.texts("aud")
	g.Subject, g.End = c.name("sub"), c.moment("exp")
	from := now
	for _, name := range []string{"iat", "nbf"} {
		if _, there := c.object[name]; there {
			from = latest(from, c.moment(name))
		}
	}
	switch {
	case c.err != nil:
		return Grant{}, invalid(c.err.Error())
	case iss != issuer:
		return Grant{}, invalid("iss is not " + issuer)
	case len(aud) != 1 || !slices.Contains(audiences, aud[0]):
		return Grant{}, invalid("aud is not " + strings.Join(audiences, " or ") + ", alone")
	case len(g.Subject) > maxSubject || strings.ContainsFunc(g.Subject, unicode.IsControl):
		return Grant{}, invalid("sub is too long, or holds control characters")
	case len(g.ID) > maxJTI:
		return Grant{}, invalid("jti is too long")
	case !now.Before(g.End):
		return Grant{}, errExpired
	case g.End.After(last.Add(skew)):
		return Grant{}, invalid("exp is too far ahead: at most " + last.Sub(now).String())
	case from.After(now.Add(skew)):
		return Grant{}, errEarly
	}
	return g, nil
}

// IssuerOf returns which issuer an assertion claims to be of, unverified: "" if it cannot be read.
func IssuerOf(assertion string) string { return claimedText(assertion, "iss") }

// SubjectOf returns whom an assertion claims to be, unverified: "" if it cannot be read.
func SubjectOf(assertion string) string { return claimedText(assertion, "sub") }

func claimedText(assertion, name string) string {
	_, rest, _ := strings.Cut(assertion, ".")
	payload, _, _ := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || len(assertion) > maxToken {
		return ""
	}
	o, err := parseObject(raw)
	if err != nil {
		return ""
	}
	text, _ := o.text(name)
	return text
}
