package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/oauth/signin/connector"
)

const (
	maxSub = 255             // characters of ASCII: OpenID Connect Core, section 2
	skew   = 5 * time.Minute // by which clocks may differ
)

// claims are those of a user. Names are case-sensitive, and what has another type is missing.
type claims map[string]json.RawMessage

func (c claims) text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// verified returns the address that the provider has verified, "" if there is none. Some write the
// flag as a text.
func (c claims) verified() string {
	if flag := string(c["email_verified"]); flag != "true" && flag != `"true"` {
		return ""
	}
	return strings.ToLower(c.text("email"))
}

// authTime returns when the user proved to the provider who they are, zero if it does not say. A time that lies further
// in the future than clocks differ is none.
func (c claims) authTime(now time.Time) time.Time {
	var seconds float64
	if json.Unmarshal(c["auth_time"], &seconds) != nil || seconds <= 0 || seconds > float64(now.Add(skew).Unix()) {
		return time.Time{}
	}
	if at := time.Unix(int64(seconds), 0); at.Before(now) {
		return at
	}
	return now
}

func (v *visit) identify(ctx context.Context, t tokens) (claims, error) {
	id, err := v.verifier.Verify(ctx, t.id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, v.unreachable(ctx.Err())
		}
		return nil, v.trouble("", "its id_token is not accepted: "+err.Error())
	}
	var c claims
	refuse := func(why string) (claims, error) {
		return nil, v.trouble("", "its id_token is not accepted: "+why)
	}
	switch err := id.Claims(&c); {
	case err != nil:
		return refuse("it is no object")
	case subtle.ConstantTimeCompare([]byte(c.text("nonce")), []byte(v.visits.Nonce(v.state))) != 1:
		return refuse("it is not of this visit (nonce)")
	case c["azp"] != nil && c.text("azp") != v.ClientID, c["azp"] == nil && len(id.Audience) > 1:
		return refuse("it is for another application (azp)")
	case id.IssuedAt.Unix() <= 0 || time.Until(id.IssuedAt) > skew:
		return refuse("it has no iat, or one of the future; are the clocks right?")
	case !isSub(id.Subject) || c.text("sub") != id.Subject:
		return refuse("its sub is none")
	}
	if id.AccessTokenHash != "" && id.VerifyAccessToken(t.access) != nil {
		return refuse("it came with another access token (at_hash)")
	}
	return c, nil
}

func isSub(s string) bool {
	return s != "" && len(s) <= maxSub && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f })
}

// profile completes the claims where they lack something that was asked for.
func (v *visit) profile(ctx context.Context, t tokens, c claims) (connector.Profile, error) {
	nameless := (nickname(c) == "" || c["picture"] == nil) && slices.Contains(v.Scopes, "profile")
	granted := slices.Concat(v.Scopes, strings.Fields(t.scope))
	addressless := c["email"] == nil && slices.Contains(granted, "email")
	unknown := len(v.Domains) > 0 && c["email"] == nil
	m, err := v.mapping(ctx)
	if err != nil {
		return connector.Profile{}, err
	}
	groupless, grouped := m.Claim != "" && c[m.Claim] == nil, m.Claim != ""
	authTime, unread := c.authTime(time.Now()), "" // of the id_token: userinfo is not signed
	lacking := nameless || addressless || unknown || groupless
	if lacking && v.userinfo != "" && t.access != "" && strings.EqualFold(t.kind, "Bearer") {
		more, err := v.ofUserinfo(ctx, t.access, c.text("sub"))
		trouble := (*connector.Trouble)(nil)
		decides := unknown || errors.Is(err, errTwoPeople) || errors.Is(err, context.Canceled)
		if !decides && errors.As(err, &trouble) {
			unread, err = trouble.Error(), nil // the id_token has said who it is
			grouped = !groupless
		}
		if err != nil {
			return connector.Profile{}, err
		}
		c = more.over(c)
	}
	if !v.admits(c) {
		return connector.Profile{}, fmt.Errorf("%s: %w", v.Config.Name, connector.ErrStranger)
	}
	var in []string
	if grouped {
		in = groupsOf(c, m)
	}
	confirmed := ""
	if v.TrustEmail {
		confirmed = c.verified()
	}
	return connector.Profile{
		Subjects: []string{subject(v.Issuer, c.text("sub"))}, AuthTime: authTime, Unread: unread, Groups: in,
		Nickname: nickname(c), Avatar: picture(c), Gender: c.text("gender"),
		Email: strings.ToLower(c.text("email")), ConfirmedEmail: confirmed,
	}.Tidy(), nil
}

// errTwoPeople says that userinfo and the id_token name different users: nobody knows then who has signed in.
var errTwoPeople = errors.New("told of two different people")

// subject returns who a user is: no issuer has a # in it, so no two can say the same.
func subject(issuer, sub string) string { return "i:" + issuer + "#" + sub }

// over lays the claims of an id_token, which is signed, over those of userinfo.
func (c claims) over(signed claims) claims {
	address := signed["email"] == nil && signed["email_verified"] == nil // never one's flag for the other's address
	out := claims{}
	for name, value := range c {
		if address || name != "email" && name != "email_verified" {
			out[name] = value
		}
	}
	for name, value := range signed {
		out[name] = value
	}
	return out
}

// ofUserinfo reads the claims that userinfo has of the same user.
func (v *visit) ofUserinfo(ctx context.Context, access, sub string) (claims, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.userinfo, nil)
	if err != nil {
		return nil, v.trouble("", "its userinfo_endpoint cannot be asked")
	}
	r.Header.Set("Authorization", "Bearer "+access)
	var c claims
	switch status, err := v.request(r, &c); {
	case status != http.StatusOK && status != 0:
		return nil, v.status(status)
	case err != nil:
		return nil, err
	case c.text("sub") == "":
		return nil, v.trouble("", "told of nobody at userinfo")
	case c.text("sub") != sub:
		return nil, fmt.Errorf("%w: %w", v.trouble("", errTwoPeople.Error()), errTwoPeople)
	}
	return c, nil
}

// admits reports whether the operator lets the user in. Google verifies addresses that it does not
// host; hd names the Workspace that the account belongs to.
func (v *visit) admits(c claims) bool {
	if len(v.Domains) == 0 {
		return true
	}
	if v.Issuer == Google {
		return slices.Contains(v.Domains, strings.ToLower(c.text("hd")))
	}
	address := c.verified()
	at := strings.LastIndexByte(address, '@')
	return at > 0 && slices.Contains(v.Domains, address[at+1:])
}

// nickname returns what the user is called. A preferred_username that is an address is left out:
// applications are told nicknames.
func nickname(c claims) string {
	parts := strings.Join(strings.Fields(c.text("given_name")+" "+c.text("family_name")), " ")
	if first, last := c.text("given_name"), c.text("family_name"); strings.ContainsFunc(first+last, isHan) {
		parts = strings.TrimSpace(last) + strings.TrimSpace(first) // as they are said
	}
	for _, text := range []string{c.text("name"), c.text("nickname"), parts} {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	if text := strings.TrimSpace(c.text("preferred_username")); !strings.Contains(text, "@") {
		return text
	}
	return ""
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// picture returns the user's picture. Entra names one that browsers cannot load.
func picture(c claims) string {
	at, err := url.Parse(c.text("picture"))
	if err != nil || at.Host == "graph.microsoft.com" {
		return ""
	}
	return c.text("picture")
}
