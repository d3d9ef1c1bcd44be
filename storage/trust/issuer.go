package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
)

// Values of Issuer.Use.
const (
	IDJAG    = "id-jag"   // it asserts who a user is (draft-ietf-oauth-identity-assertion-authz-grant)
	Workload = "workload" // it asserts which program runs where, such as a job of CI (RFC 7523, SEP-1933)
)

// Bounds of an Issuer.
const (
	MaxIssuer = 255 // bytes of its URL
	MaxRules  = 100
	maxList   = 50
	maxText   = 512 // bytes
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = carried(Issuer{}.carried)

// Issuer is trusted to sign assertions of one Use. The zero values of the other fields admit the least.
type Issuer struct {
	Issuer  string `json:"issuer"`             // iss, exactly; an https URL
	JWKSURI string `json:"jwks_uri,omitempty"` // where its keys are; "": as its discovery document says
	Use     string `json:"use"`                // IDJAG or Workload

	// Audience holds the one aud of a Workload; "": the issuer of this service. Of an IDJAG it is always that.
	Audience string `json:"audience,omitempty"`

	// Create has a person become a user whom nobody knows here yet; of an IDJAG.
	Create bool `json:"create,omitempty"`

	// Scopes bound what its assertions can grant; none: what a user may be asked for. The scope apps is never granted.
	Scopes []string `json:"scopes,omitempty"`

	// Rules say which application a Workload is; the first one that matches counts. Without any it is none.
	Rules []Rule `json:"rules,omitempty"`

	// AllowPrivate names what its keys may be read from although it is private, http included: a CIDR, an address or
	// host:port.
	AllowPrivate []string `json:"allow_private,omitempty"`

	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	Version   int64     `json:"-"`
	carried
}

// Rule says that a workload is an application.
type Rule struct {
	Subject  string         `json:"subject"`          // sub; each * stands for any characters but line breaks
	Claims   map[string]any `json:"claims,omitempty"` // that must be there, each exactly so
	ClientID string         `json:"client_id"`
}

// Check returns everything that is wrong with an Issuer at once, but for whether there are such scopes and addresses:
// that is asked where they are typed, and an unknown one opens nothing.
func (i Issuer) Check() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := i.checkURL(i.Issuer); err != nil {
		complain("issuer: %q: %w", i.Issuer, err)
	} else if strings.ContainsAny(i.Issuer, "?#") || len(i.Issuer) > MaxIssuer {
		complain("issuer: %q: give a URL without query, of at most %d bytes", i.Issuer, MaxIssuer)
	}
	if i.JWKSURI != "" {
		if err := i.checkURL(i.JWKSURI); err != nil {
			complain("jwks_uri: %q: %w", i.JWKSURI, err)
		}
	}
	if i.Use != IDJAG && i.Use != Workload {
		complain("use: %q is neither %s nor %s", i.Use, IDJAG, Workload)
	}
	if i.Use == IDJAG && (i.Audience != "" || len(i.Rules) > 0) {
		complain("audience, rules: they are for the use %s alone", Workload)
	}
	if i.Use == Workload && (i.Create || len(i.Scopes) > 0) {
		complain("create, scopes: they are for the use %s alone: a workload is an application, with the scope app", IDJAG)
	}
	if len(i.Audience) > maxText {
		complain("audience: at most %d bytes", maxText)
	}
	if len(i.Scopes) > maxList || len(i.AllowPrivate) > maxList {
		complain("scopes, allow_private: at most %d of each", maxList)
	}
	if len(i.Rules) > MaxRules {
		complain("rules: at most %d", MaxRules)
	}
	for n, r := range i.Rules {
		if err := r.check(); err != nil {
			complain("rules: rule %d: %w", n+1, err)
		}
	}
	return errors.Join(errs...)
}

// Parse reads a list of issuers in JSON, and checks each. A member that is not known is refused: what it was to
// restrict would be open.
func Parse(text []byte) ([]Issuer, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	in.UseNumber()
	var all []*Issuer
	if err := in.Decode(&all); err != nil || all == nil || slices.Contains(all, nil) {
		return nil, fmt.Errorf("it is no list of issuers, each an object of issuer, use, jwks_uri, audience, create, "+
			"scopes, rules and allow_private (%v)", err)
	}
	list := make([]Issuer, len(all))
	for n, i := range all {
		if list[n] = *i; slices.ContainsFunc(list[:n], func(other Issuer) bool { return other.Issuer == i.Issuer }) {
			return nil, fmt.Errorf("%s is there twice", i.Issuer)
		}
		if err := i.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", i.Issuer, err)
		}
	}
	return list, nil
}

// ParseRules reads a list of rules in JSON, as Parse does.
func ParseRules(text []byte) (rules []Rule, err error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	in.UseNumber()
	if err := in.Decode(&rules); err != nil || rules == nil {
		return nil, errors.New("it is no list of rules, each an object of subject, claims and client_id")
	}
	return rules, nil
}

// checkURL checks an address that something is read from. That http is for private addresses is seen when it is read.
func (i Issuer) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || len(text) > maxText:
		return fmt.Errorf("it is no URL of a host, of at most %d bytes", maxText)
	case u.Scheme == "http" && len(i.AllowPrivate) == 0:
		return errors.New("http is for the addresses of allow_private: begin with https://")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("begin with https://")
	}
	return nil
}

func (r Rule) check() error {
	switch {
	case r.Subject == "" || len(r.Subject) > maxText:
		return fmt.Errorf("subject: give one, of at most %d bytes; * alone is any", maxText)
	case strings.Trim(r.Subject, "*") == "" && len(r.Claims) == 0:
		return errors.New("it would admit everybody who has a token of the issuer: name more of the subject, or claims")
	case r.ClientID == "" || len(r.ClientID) > maxText:
		return errors.New("client_id: name the application")
	case len(r.Claims) > maxList:
		return fmt.Errorf("claims: at most %d", maxList)
	}
	return nil
}

// Matches reports whether a workload is meant, by its sub and its claims.
func (r Rule) Matches(sub string, claims map[string]json.RawMessage) bool {
	for name, want := range r.Claims {
		is, there := claims[name]
		text, err := json.Marshal(want)
		if !there || err != nil || !reflect.DeepEqual(read(text), read(is)) {
			return false
		}
	}
	return matches(r.Subject, sub)
}

// read reads JSON, numbers as they are written: as float64 two large ones would be the same.
func read(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return v
}

// matches reports whether a text is one of a pattern, in which * stands for any characters but line breaks.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) || strings.ContainsAny(text, "\n\r\u0085\u2028\u2029") {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// Clone returns a copy that shares no list with i.
func (i Issuer) Clone() Issuer {
	i.Scopes, i.AllowPrivate, i.Rules = slices.Clone(i.Scopes), slices.Clone(i.AllowPrivate), slices.Clone(i.Rules)
	return i
}
