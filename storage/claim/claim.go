package claim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// Where claims are added.
const (
	InIDToken       = "id_token"
	InUserInfo      = "userinfo"
	InIntrospection = "introspection"
)

// Limits.
const (
	MaxRules  = 32   // of a service, and of an application
	MaxClaims = 4096 // bytes of JSON that the claims of all rules take
	maxName   = 100  // bytes
	maxFrom   = 1100 // bytes
	maxScope  = 100  // bytes
)

// Rule adds a claim.
type Rule struct {
	Claim string   `json:"claim"`
	From  string   `json:"from"`            // attribute:NAME, field:NAME, groups:PATTERN or value:JSON
	Scope string   `json:"scope,omitempty"` // that has to be granted; "": openid
	In    []string `json:"in,omitempty"`    // InIDToken and so on; none: everywhere
}

// scopeOfAll is the scope of a rule that names none.
const scopeOfAll = "openid"

// Parse reads a list of rules in JSON: an array, and not null, of objects that have the members of a Rule and no
// others.
func Parse(text []byte) ([]Rule, error) {
	const wrong = "claims is not a list of rules, each an object of claim, from, scope and in"
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var rules []*Rule
	if err := in.Decode(&rules); err != nil || rules == nil || slices.Contains(rules, nil) {
		return nil, errors.New(wrong)
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, errors.New(wrong)
	}
	all := make([]Rule, len(rules))
	for i, r := range rules {
		all[i] = *r
	}
	return all, nil
}

// fields lists what field: knows of a user.
var fields = []string{"username", "name", "nickname", "email", "email_verified", "location", "gender", "login_type",
	"created_at"}

// reserved are the names that have a meaning: of RFC 7519, OpenID Connect Core 2, 3.3.2.11 and 5.1, 2.3 of the
// protocol, and of the tokens that are made here.
var reserved = strings.Fields(`iss sub aud exp nbf iat jti
	nonce auth_time acr amr azp at_hash c_hash s_hash sid
	name given_name family_name middle_name nickname preferred_username profile picture website email email_verified
	gender birthdate zoneinfo locale phone_number phone_number_verified address updated_at
	user_id location login_type
	groups act may_act via cnf client_id scope active token_type username events resource gid`)

// Reserved reports whether no rule adds a claim of this name. Case does not count, because some applications read
// claims without regard to it.
func Reserved(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(reserved, name) || strings.HasPrefix(name, "_claim_")
}

// CheckName returns what is wrong with the name of a claim that is added.
func CheckName(name string) error {
	switch {
	case name == "" || len(name) > maxName || strings.ContainsFunc(name, unfit):
		return fmt.Errorf("claim: a name is 1 to %d printable characters without space", maxName)
	case Reserved(name):
		return fmt.Errorf("claim: %q has a meaning that a rule does not change: give the claim another name", name)
	}
	return nil
}

// unfit reports whether a character is in no name of a claim and of a scope (RFC 6749 3.3).
func unfit(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }

// Check returns the first thing that is wrong with a list of rules, as a driver.ErrInvalid.
func Check(rules []Rule) error {
	if len(rules) > MaxRules {
		return fmt.Errorf("%w: claims: at most %d rules", driver.ErrInvalid, MaxRules)
	}
	for _, r := range rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("%w: claims: %q: %w", driver.ErrInvalid, r.Claim, err)
		}
	}
	if fixed, err := json.Marshal(fixed(rules)); err != nil || len(fixed) > MaxClaims {
		return fmt.Errorf("%w: claims: the values that are given take more than %d bytes", driver.ErrInvalid, MaxClaims)
	}
	return nil
}

// fixed returns the claims whose values the rules give themselves.
func fixed(rules []Rule) map[string]any {
	all := map[string]any{}
	for _, r := range rules {
		if text, ok := strings.CutPrefix(r.From, "value:"); ok {
			all[r.Claim] = json.RawMessage(text)
		}
	}
	return all
}

func (r Rule) check() error {
	if err := CheckName(r.Claim); err != nil {
		return err
	}
	switch {
	case len(r.From) > maxFrom:
		return fmt.Errorf("from: at most %d bytes", maxFrom)
	case len(r.Scope) > maxScope || strings.ContainsFunc(r.Scope, unfit):
		return fmt.Errorf("scope: %q is not the name of one scope", r.Scope)
	}
	for _, in := range r.In {
		if !slices.Contains([]string{InIDToken, InUserInfo, InIntrospection}, in) {
			return fmt.Errorf("in: %q is none of %s, %s, %s", in, InIDToken, InUserInfo, InIntrospection)
		}
	}
	kind, name, _ := strings.Cut(r.From, ":")
	switch kind {
	case "attribute":
		if !IsAttribute(name) {
			return fmt.Errorf("from: %q is no name of an attribute: %s", name, AttributeForm)
		}
	case "field":
		if !slices.Contains(fields, name) {
			return fmt.Errorf("from: %q is no field: it is one of %s", name, strings.Join(fields, ", "))
		}
	case "groups":
		return CheckPattern(name)
	case "value":
		if !json.Valid([]byte(name)) {
			return fmt.Errorf("from: what is behind value: is not JSON: a text has quotes, as in value:\"text\"")
		}
	default:
		return fmt.Errorf("from: %q is none of attribute:NAME, field:NAME, groups:PATTERN, value:JSON", r.From)
	}
	return nil
}

// CheckPattern returns what is wrong with a pattern of names of groups, in which * stands for any text.
func CheckPattern(pattern string) error {
	if pattern == "" || len(pattern) > maxName || strings.Trim(pattern, "abcdefghijklmnopqrstuvwxyz0123456789._-*") != "" {
		return fmt.Errorf("groups: %q is no pattern of names: it has a-z 0-9 . _ - and *, which stands for any text",
			pattern)
	}
	return nil
}

// Matching returns the names that a pattern matches.
func Matching(names []string, patterns ...string) []string {
	matching := []string{}
	for _, name := range names {
		if slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil }) {
			matching = append(matching, name)
		}
	}
	return matching
}

// User holds what rules know of a user.
type User struct {
	Attributes map[string]string
	Groups     []string       // sorted
	Fields     map[string]any // by the names that field: knows; one that is "" or nil is not there
}

// NeedGroups reports whether a list of rules looks at the groups of a user.
func NeedGroups(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return strings.HasPrefix(r.From, "groups:") })
}

// Of returns the claims that rules add in a place, for a user who was granted scopes. Of two rules for one claim the
// later one that has a value decides.
func Of(rules []Rule, in string, scopes []string, u User) map[string]any {
	all, size := map[string]any{}, 0
	for _, r := range rules {
		if len(r.In) > 0 && !slices.Contains(r.In, in) || !slices.Contains(scopes, cmp.Or(r.Scope, scopeOfAll)) ||
			Reserved(r.Claim) {
			continue
		}
		v := r.value(u)
		if v == nil {
			continue
		}
		text, err := json.Marshal(v)
		if size += len(text) + len(r.Claim) + len(`"":,`); err != nil || size > MaxClaims {
			return all
		}
		all[r.Claim] = v
	}
	return all
}

// value returns what a rule says of a user, nil if nothing.
func (r Rule) value(u User) any {
	kind, name, _ := strings.Cut(r.From, ":")
	switch kind {
	case "attribute":
		if text, there := u.Attributes[name]; there {
			return text
		}
	case "field":
		if v := u.Fields[name]; v != "" {
			return v
		}
	case "groups":
		return Matching(u.Groups, name)
	case "value":
		return json.RawMessage(name)
	}
	return nil
}
