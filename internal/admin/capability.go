package admin

import (
	"maps"
	"net/url"
	"slices"

	"github.com/keystile/keystile/storage"
)

// CapabilityChanges is AppChanges for a capability. Its secrets are chosen by people, so that even a hash of one could
// be guessed: of them, and of addresses beyond their server, it says only that they have changed.
func CapabilityChanges(before, after storage.Capability) []string {
	d := &difference{}
	d.text("label", before.Label, after.Label)
	if before.Description != after.Description {
		d.all = append(d.all, "description changed")
	}
	d.text("kind", before.Kind, after.Kind)
	d.address("upstream_url", before.UpstreamURL, after.UpstreamURL)
	d.value("tools", before.ToolCount, after.ToolCount)
	d.text("auth_type", before.AuthType, after.AuthType)
	d.text("auth_name", before.AuthName, after.AuthName)
	d.text("auth_in", before.AuthIn, after.AuthIn)
	d.chosen("auth_secret", before.AuthSecret, after.AuthSecret)
	d.headers(before.SecretHeaders(), after.SecretHeaders())
	d.address("webhook_url", before.WebhookURL, after.WebhookURL)
	d.chosen("webhook_secret", before.WebhookSecret, after.WebhookSecret)
	d.value("timeout", before.CallTimeout(), after.CallTimeout())
	d.value("publish", before.Publish, after.Publish)
	d.text("pins", before.Pins(), after.Pins())
	d.text("owner", before.Owner, after.Owner)
	return d.all
}

// address shows the servers of two addresses, whose paths and queries may hold keys.
func (d *difference) address(name, before, after string) {
	switch was, is := ServerOf(before), ServerOf(after); {
	case was != is:
		d.text(name, was, is)
	case before != after:
		d.all = append(d.all, name+" changed")
	}
}

// ServerOf returns the scheme and the host of an address, which are all of it that the audit trail learns.
func ServerOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// chosen says what became of a secret that somebody has chosen.
func (d *difference) chosen(name string, before, after storage.Secret) {
	switch {
	case before.Reveal() == after.Reveal():
	case before.IsZero():
		d.all = append(d.all, name+" none -> set")
	case after.IsZero():
		d.all = append(d.all, name+" set -> none")
	default:
		d.all = append(d.all, name+" changed")
	}
}

func (d *difference) headers(before, after map[string]storage.Secret) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.chosen("header "+name, before[name], after[name])
	}
}
