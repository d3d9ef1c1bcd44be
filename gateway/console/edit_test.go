package console_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/lasthop"
)

// edits opens the page, and sends it with changes.
func (s *scene) edits(role string, form url.Values) (status int, page string) {
	s.Helper()
	q := request{path: "/console/capabilities/{member}/edit", method: "POST", act: "update"}
	path := s.fill(q.path, role, q.path)
	form.Set("do", "update")
	form.Set("form", s.formOn(s.open(path, s.who[role].cookie)))
	w := s.send(path, s.who[role].cookie, form)
	return w.Code, w.Body.String()
}

// A field that is left empty stays as it is, and the audit trail names the changed fields without their values.
func TestCapabilityIsEditedAndItsToolsStay(t *testing.T) {
	s := newScene(t)
	member := s.own["developer"]["member"]
	before, tools, err := s.store.Tools(t.Context(), member)
	if err != nil {
		t.Fatal(err)
	}
	status, _ := s.edits("developer", url.Values{
		"label": {"Pets"}, "timeout": {"90"}, "auth_type": {"bearer"}, "auth_secret": {"typed-secret"},
		"description":   {before.Description},
		"header_name_0": {"X-Tenant"}, "header_secret_0": {"tenant-secret"}, "header_new_0": {"1"},
		"header_name_1": {""}, "header_secret_1": {""}, "header_new_1": {"1"},
	})
	c, after, err := s.store.Tools(t.Context(), member)
	if err != nil || status != 303 || len(after) != len(tools) || c.Label != "Pets" || c.Timeout != 90 ||
		!c.AuthSecret.Equal("typed-secret") ||
		len(c.SecretHeaders()) != 1 || !c.SecretHeaders()["X-Tenant"].Equal("tenant-secret") ||
		c.UpstreamURL != before.UpstreamURL {
		t.Fatalf("answered %d, stored is %+v with %d tools, %v", status, c, len(after), err)
	}
	if trail := s.trail(); !strings.Contains(trail, "capability update "+member) ||
		!strings.Contains(trail, `auth_secret none -> set; header X-Tenant none -> set; timeout `) ||
		strings.Contains(trail, "-secret") {
		t.Errorf("the trail is %s", trail)
	}
	page := s.open("/console/capabilities/"+member+"/edit", s.who["developer"].cookie).Body.String()
	show := s.open("/console/capabilities/"+member, s.who["developer"].cookie).Body.String()
	for _, text := range []string{page, show} {
		if strings.Contains(text, "typed-secret") || strings.Contains(text, "tenant-secret") ||
			!strings.Contains(text, "<code>X-Tenant</code>") {
			t.Errorf("the page shows a secret, or lacks the name: %s", text)
		}
	}
	status, _ = s.edits("developer", url.Values{"label": {"Pets"}, "timeout": {"90"}, "auth_type": {"bearer"},
		"header_name_0": {"X-Tenant"}, "header_remove_0": {"on"}})
	if c, _, _ = s.store.Tools(t.Context(), member); status != 303 || !c.AuthSecret.Equal("typed-secret") ||
		len(c.SecretHeaders()) != 0 {
		t.Errorf("answered %d, stored is %+v", status, c)
	}
	updated := c.UpdatedAt
	if status, _ = s.edits("developer", url.Values{"label": {"Pets"}, "timeout": {"90"},
		"auth_type": {"bearer"}}); status != 303 {
		t.Errorf("a form without changes is %d", status)
	}
	if c, _, _ = s.store.Tools(t.Context(), member); !c.UpdatedAt.Equal(updated) {
		t.Error("a form without changes has changed it")
	}
}

var wasField = regexp.MustCompile(`name="(was_[a-z_]+)"\s+value="([^"]*)"`)

// Ada opens the form, somebody else changes the label, and Ada changes the timeout.
func TestFormTakesBackNothingThatWasChangedSinceItWasOpened(t *testing.T) {
	s := newScene(t)
	member := s.own["developer"]["member"]
	opened := s.open("/console/capabilities/"+member+"/edit", s.who["developer"].cookie).Body.String()
	form := url.Values{"timeout": {"90"}, "auth_type": {"none"}}
	for _, field := range wasField.FindAllStringSubmatch(opened, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	form.Set("label", form.Get("was_label"))
	if status, page := s.edits("developer", url.Values{"label": {"Changed since"}}); status != 303 {
		t.Fatalf("the other form is %d %s", status, page)
	}
	status, _ := s.edits("developer", form)
	c, _, err := s.store.Tools(t.Context(), member)
	if err != nil || status != 303 || c.Timeout != 90 || c.Label != "Changed since" {
		t.Errorf("answered %d, stored is %+v, %v; want the timeout changed and the other label", status, c, err)
	}
}

func TestFormThatIsRefusedShowsNoSecretAgain(t *testing.T) {
	s := newScene(t)
	status, page := s.edits("developer", url.Values{
		"label": {"Kept"}, "timeout": {"soon"}, "auth_type": {"bearer"}, "auth_secret": {"typed-secret"},
		"webhook_secret": {"hook-secret"},
		"header_name_0":  {"Host"}, "header_secret_0": {"tenant-secret"}, "header_new_0": {"1"},
	})
	if status != 400 || strings.Contains(page, "-secret\"") || !strings.Contains(page, `value="Kept"`) ||
		!strings.Contains(page, "Seconds that a call may take is not a number") {
		t.Errorf("answered %d %s", status, page)
	}
	status, page = s.edits("developer", url.Values{"label": {"Kept"}, "auth_type": {"none"}, "timeout": {"30"},
		"header_name_0": {"Host"}, "header_secret_0": {"tenant-secret"}, "header_new_0": {"1"}})
	if status != 400 || strings.Contains(page, "tenant-secret") || !strings.Contains(page, "&#34;Host&#34;") {
		t.Errorf("answered %d %s", status, page)
	}
}

// The form of a registration wants a tick where tools would go.
func TestToolsGoOnlyWithATick(t *testing.T) {
	s := newScene(t)
	member, dev := s.own["developer"]["member"], s.who["developer"]
	_, before, err := s.store.Tools(t.Context(), member)
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	c, _ := s.store.Capability(t.Context(), member)
	const path = "/console/capabilities/new"
	form := url.Values{"do": {"register"}, "member": {member}, "upstream_url": {c.UpstreamURL},
		"document": {`{"openapi":"3.0.3","paths":{"/q":{"get":{"operationId":"another"}}}}`}}
	form.Set("form", s.formOn(s.open(path, dev.cookie)))
	w := s.send(path, dev.cookie, form)
	if w.Code != 409 || !strings.Contains(w.Body.String(), before[0].Name) ||
		!strings.Contains(w.Body.String(), `name="replace"`) {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	if _, after, _ := s.store.Tools(t.Context(), member); len(after) != len(before) || after[0].Name != before[0].Name {
		t.Errorf("the tools are %v", after)
	}
	form.Set("replace", "on")
	form.Set("form", s.formOn(s.open(path, dev.cookie)))
	gone := "1 that were there are gone:</p><ul><li><code>" + before[0].Name
	if w := s.send(path, dev.cookie, form); w.Code != 200 || !strings.Contains(w.Body.String(), gone) ||
		!strings.Contains(w.Body.String(), `<div class="warn" role="status">`) {
		t.Errorf("with a tick: %d %s", w.Code, w.Body)
	}
	if _, after, _ := s.store.Tools(t.Context(), member); len(after) != 1 || after[0].Name != "another" {
		t.Errorf("the tools are %v", after)
	}
}

// A choice that is of a statement alone is not sent with another one, though it stands in the form.
func TestPageSaysWhatAnUpstreamLearnsOfCallers(t *testing.T) {
	s := newScene(t)
	member := s.own["developer"]["member"]
	form := func(kind, subject, jti string) url.Values {
		return url.Values{"timeout": {"30"}, "auth_type": {"none"}, "identity": {kind}, "identity_subject": {subject},
			"identity_jti": {jti}}
	}
	for _, c := range []struct {
		role   string
		form   url.Values
		status int
		want   lasthop.Identity
	}{
		{"developer", form("none", "openid", "off"), 303, lasthop.Identity{}},
		{"developer", form("signed", "openid", "off"), 303, lasthop.Identity{Kind: "signed", Subject: "openid", JTI: "off"}},
		{"developer", form("signed", "sub", "off"), 303, lasthop.Identity{Kind: "signed", JTI: "off"}},
		{"developer", form("headers", "sub", "off"), 403, lasthop.Identity{Kind: "signed", JTI: "off"}},
		{"developer", form("bearer", "sub", "on"), 400, lasthop.Identity{Kind: "signed", JTI: "off"}},
		{"developer", form("none", "sub", "off"), 303, lasthop.Identity{}},
	} {
		status, page := s.edits(c.role, c.form)
		got, err := s.store.Capability(t.Context(), member)
		if err != nil || status != c.status || got.Identity != c.want {
			t.Errorf("%v is answered %d, stored is %+v, %v, want %d and %+v\n%.600s", c.form, status, got.Identity, err,
				c.status, c.want, page)
		}
		show := s.open("/console/capabilities/"+member, s.who["developer"].cookie).Body.String()
		if strings.Contains(show, "Keystile-Caller") != (c.want.Kind == lasthop.Signed) {
			t.Errorf("with %+v the page is %s", c.want, show)
		}
	}
}
