package admin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/groups"
)

// AppChanges returns the differences between two states of an application, one text for
// each: a value before and after, a list by what was removed and added. The zero App stands
// for one that is not there yet, or no longer. Secrets are shown by HashOf.
func AppChanges(before, after storage.App) []string {
	d := &difference{}
	d.text("name", before.Name, after.Name)
	d.list("domains", before.Domains, after.Domains)
	d.list("redirect_uris", before.RedirectURIs, after.RedirectURIs)
	d.text("backchannel_logout_uri", before.BackchannelLogoutURI, after.BackchannelLogoutURI)
	d.value("public", before.Public, after.Public)
	d.text("id_token_alg", before.IDTokenAlg, after.IDTokenAlg)
	d.value("legacy_success_code", before.SuccessCode(), after.SuccessCode())
	d.text("brand", brandText(before), brandText(after))
	d.text("mfa", before.MFA, after.MFA)
	d.text("dpop", before.KeyBinding(), after.KeyBinding())
	d.list("held", before.Held, after.Held)
	d.value("first_party", before.FirstParty, after.FirstParty)
	d.value("allow_http_redirect", before.AllowHTTPRedirect, after.AllowHTTPRedirect)
	d.value("forbid_plain", before.ForbidPlain, after.ForbidPlain)
	d.value("disabled", before.Disabled, after.Disabled)
	d.admission(before.Admission, after.Admission)
	d.list("group_filter", before.GroupFilter, after.GroupFilter)
	d.value("groups_in_access_token", before.GroupsInAccessToken, after.GroupsInAccessToken)
	d.list("claims", rulesText(before.Claims), rulesText(after.Claims))
	d.text("jwks", keysText(before), keysText(after))
	d.value("exchange", before.Exchange, after.Exchange)
	d.list("exchange_for", before.ExchangeFor, after.ExchangeFor)
	d.text("owner", before.Owner, after.Owner)
	d.text("tier", before.Tier, after.Tier)
	d.value("secret", HashOf(before.AppKey()), HashOf(after.AppKey()))
	return d.all
}

// keysText says by which keys an application proves itself: the address, or the beginning of a digest.
func keysText(a storage.App) string {
	k := a.Keys
	if k == nil {
		return ""
	}
	text := ServerOf(k.URL)
	if k.URL == "" {
		sum := sha256.Sum256(k.Set)
		text = "sha256:" + hex.EncodeToString(sum[:6])
	}
	if k.KeepSecret {
		text += " beside the secret"
	}
	return text
}

// UserChanges is AppChanges for a user. Of their attributes it says the names alone: what organizations keep there is
// not for everybody who reads the trail.
func UserChanges(before, after storage.User) []string {
	d := &difference{}
	d.text("username", before.Username, after.Username)
	d.text("role", before.Role, after.Role)
	d.text("name", before.Name, after.Name)
	d.text("nickname", before.Nickname, after.Nickname)
	d.text("email", before.Email, after.Email)
	d.value("email_verified", before.EmailVerified, after.EmailVerified)
	d.value("disabled", before.Disabled, after.Disabled)
	d.attributes(before.Attributes, after.Attributes)
	return d.all
}

// GroupChanges is AppChanges for a group of users. Its members are no part of it.
func GroupChanges(before, after groups.Group) []string {
	d := &difference{}
	d.text("name", before.Name, after.Name)
	d.text("label", before.Label, after.Label)
	d.list("managers", before.Managers, after.Managers)
	return d.all
}

// maxMapped bounds how many names of a mapping stand on the audit trail.
const maxMapped = 100

// MappingChanges is AppChanges for the groups that a connector's users are in.
func MappingChanges(before, after groups.Mapping) []string {
	d := &difference{}
	d.text("groups_claim", before.Claim, after.Claim)
	names := slices.AppendSeq(slices.Collect(maps.Keys(before.Groups)), maps.Keys(after.Groups))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.text("groups_map "+strconv.Quote(name), before.Groups[name], after.Groups[name])
	}
	if more := len(d.all) - maxMapped; more > 0 {
		d.all = append(d.all[:maxMapped], fmt.Sprintf("groups_map %d more", more))
	}
	return d.all
}

// OrderChanges is AppChanges for an order.
func OrderChanges(before, after storage.Order) []string {
	d := &difference{}
	d.text("status", before.Status, after.Status)
	d.text("reason", before.Reason, after.Reason)
	d.value("effective_at", shown(before.EffectiveAt), shown(after.EffectiveAt))
	d.value("expires_at", shown(before.ExpiresAt), shown(after.ExpiresAt))
	return d.all
}

// CapabilityChanges is AppChanges for a capability. Its secrets are chosen by people, so that even a hash of one could
// be guessed: of them, and of addresses beyond their server, it says only that they have changed.
func CapabilityChanges(before, after storage.Capability) []string {
	d := &difference{}
	d.text("label", before.Label, after.Label)
	d.hidden("description", "", "", before.Description == after.Description)
	d.text("kind", before.Kind, after.Kind)
	d.address("upstream_url", before.UpstreamURL, after.UpstreamURL)
	d.value("tools", before.ToolCount, after.ToolCount)
	d.text("auth_type", before.AuthType, after.AuthType)
	d.text("auth_name", before.AuthName, after.AuthName)
	d.text("auth_in", before.AuthIn, after.AuthIn)
	d.chosen("auth_secret", before.AuthSecret, after.AuthSecret)
	d.headers(before.SecretHeaders(), after.SecretHeaders())
	was, is := before.Identity.Shown(), after.Identity.Shown()
	d.text("identity", was.Kind, is.Kind)
	d.text("identity_subject", was.Subject, is.Subject)
	d.text("identity_jti", was.JTI, is.JTI)
	d.address("webhook_url", before.WebhookURL, after.WebhookURL)
	d.chosen("webhook_secret", before.WebhookSecret, after.WebhookSecret)
	d.value("timeout", before.CallTimeout(), after.CallTimeout())
	d.value("publish", before.Publish, after.Publish)
	d.text("pins", before.Pins(), after.Pins())
	d.text("owner", before.Owner, after.Owner)
	return d.all
}

func shown(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// HashOf identifies a secret without revealing it, by the beginning of its SHA-256. The
// hash has no key and the trail may be read by others; that gives nothing away because the
// secret is drawn, 256 random bits, and cannot be guessed.
func HashOf(s storage.Secret) string {
	if s.IsZero() {
		return "none"
	}
	sum := sha256.Sum256([]byte(s.Reveal()))
	return "sha256:" + hex.EncodeToString(sum[:6])
}

// ServerOf returns the scheme and the host of an address, which are all of it that the audit trail learns.
func ServerOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func brandText(a storage.App) string {
	if a.Brand == nil {
		return ""
	}
	return a.Brand.Name + " " + a.Brand.Logo + " " + a.Brand.Color
}

// rulesText writes claim rules as they are in JSON.
func rulesText(rules []claim.Rule) (all []string) {
	for _, r := range rules {
		text, _ := json.Marshal(r) // texts never fail
		all = append(all, string(text))
	}
	return all
}

// difference collects changes. User input is quoted, so that it cannot pass for something
// else.
type difference struct{ all []string }

func (d *difference) value(name string, before, after any) {
	if before != after {
		d.all = append(d.all, fmt.Sprintf("%s %v -> %v", name, before, after))
	}
}

func (d *difference) text(name, before, after string) {
	if before != after {
		d.all = append(d.all, fmt.Sprintf("%s %q -> %q", name, before, after))
	}
}

func (d *difference) list(name string, before, after []string) {
	for _, was := range before {
		if !slices.Contains(after, was) {
			d.all = append(d.all, fmt.Sprintf("%s -%q", name, was))
		}
	}
	for _, is := range after {
		if !slices.Contains(before, is) {
			d.all = append(d.all, fmt.Sprintf("%s +%q", name, is))
		}
	}
}

// admission shows who may use an application, from the default on, which is everyone.
func (d *difference) admission(before, after *access.Admission) {
	allowed, denied := before.Lists()
	allow, deny := after.Lists()
	d.list("allow", allowed, allow)
	d.list("deny", denied, deny)
}

// hidden shows what may be known of two values, and else only that they are not the same.
func (d *difference) hidden(name, before, after string, same bool) {
	switch {
	case before != after:
		d.all = append(d.all, name+" "+before+" -> "+after)
	case !same:
		d.all = append(d.all, name+" changed")
	}
}

// address shows the servers of two addresses, whose paths and queries may hold keys.
func (d *difference) address(name, before, after string) {
	d.hidden(name, strconv.Quote(ServerOf(before)), strconv.Quote(ServerOf(after)), before == after)
}

// chosen shows whether there is a secret that a person has chosen.
func (d *difference) chosen(name string, before, after storage.Secret) {
	state := map[bool]string{true: "none", false: "set"}
	d.hidden(name, state[before.IsZero()], state[after.IsZero()], before.Reveal() == after.Reveal())
}

func (d *difference) attributes(before, after map[string]string) {
	state := map[bool]string{true: "set", false: "none"}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		d.hidden("attribute "+name, state[had], state[has], was == is)
	}
}

func (d *difference) headers(before, after map[string]storage.Secret) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.chosen("header "+name, before[name], after[name])
	}
}
