package registry_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// update sends an update.
func (h *fixture) update(cookie, member, body string, headers ...string) response {
	h.Helper()
	return h.request("PATCH", all+"/"+member, cookie, strings.NewReader(body), headers...)
}

// full is a registration with everything that an update can change.
const full = `{"label":"Shop","description":"Orders","timeout":60,"auth_type":"bearer","auth_secret":"first-secret",` +
	`"webhook_url":"https://hooks.example.com/a",` +
	`"webhook_secret":"hook-secret","headers":{"X-Tenant":"tenant-secret","X-Old":"old-secret"},`

func TestUpdateChangesWhatIsSentAndNothingElse(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	h.want(h.register(mina, full+standard("shop", "a", "b")[1:]), 200, 1, "a registration")
	before, tools, _ := h.store.Tools(t.Context(), "shop")
	reloads := h.reloads
	a := h.want(h.update(mina, "shop",
		`{"label":"Store","timeout":null,"auth_secret":"second-secret","headers":{"x-old":null,"X-New":"new-secret"}}`),
		200, 1, "an update")
	c, after, err := h.store.Tools(t.Context(), "shop")
	if err != nil || len(after) != 2 || len(tools) != 2 || c.Owner != before.Owner || c.Kind != before.Kind ||
		c.UpstreamURL != before.UpstreamURL {
		t.Fatalf("stored is %+v with %d tools, %v", c, len(after), err)
	}
	if c.Label != "Store" || c.Description != "Orders" || c.Timeout != 0 || c.AuthType != "bearer" ||
		!c.AuthSecret.Equal("second-secret") ||
		c.WebhookURL != before.WebhookURL || !c.WebhookSecret.Equal("hook-secret") ||
		!slices.Equal(c.HeaderNames(), []string{"X-New", "X-Tenant"}) ||
		!c.SecretHeaders()["X-New"].Equal("new-secret") || !c.SecretHeaders()["X-Tenant"].Equal("tenant-secret") {
		t.Errorf("stored is %+v", c)
	}
	if h.reloads != reloads+1 {
		t.Error("the bus is not told")
	}
	last := h.events[len(h.events)-1]
	if last.Kind != event.Registration || last.Detail != "capability update shop by "+before.Owner+
		`: label "Shop" -> "Store"; auth_secret changed; header X-New none -> set; header X-Old set -> none; timeout 1m0s -> 30s` {
		t.Errorf("the trail has %+v", last)
	}
	due, err := h.store.DueDeliveries(t.Context(), time.Now().Add(time.Hour), 10)
	if err != nil || len(due) != 1 && len(due) != 2 {
		t.Errorf("%d messages wait for the webhook, %v", len(due), err)
	}
	for _, text := range []string{a.text, h.request("GET", all+"/shop", mina, nil).text,
		h.request("GET", all, mina, nil).text, h.log.String(), last.Detail} {
		if strings.Contains(text, "-secret") {
			t.Errorf("a secret stands in %s", text)
		}
	}
	if shown := h.request("GET", all+"/shop", mina, nil).text; !strings.Contains(shown,
		`"header_names":["X-New","X-Tenant"]`) {
		t.Errorf("the names are not shown: %s", shown)
	}
	h.want(h.update(mina, "shop", `{}`), 200, 1, "an update of nothing")
	h.want(h.update(mina, "shop", `{"headers":{"x-NEW":"newer-secret"}}`), 200, 1, "the same name, written otherwise")
	if c, _ = h.store.Capability(t.Context(), "shop"); !slices.Equal(c.HeaderNames(), []string{"X-Tenant", "x-NEW"}) {
		t.Errorf("the headers are %v", c.HeaderNames())
	}
	h.want(h.update(mina, "shop", `{"headers":{},"auth_type":"none","webhook_url":null}`), 200, 1,
		"an update that takes things away")
	if c, _ = h.store.Capability(t.Context(), "shop"); c.AuthType != "none" || !c.AuthSecret.IsZero() ||
		c.WebhookURL != "" || !c.WebhookSecret.IsZero() || len(c.SecretHeaders()) != 2 {
		t.Errorf("stored is %+v", c)
	}
	h.want(h.update(mina, "shop", `{"headers":null}`), 200, 1, "an update that takes all headers away")
	if c, _ = h.store.Capability(t.Context(), "shop"); len(c.SecretHeaders()) != 0 {
		t.Errorf("the headers are %v", c.HeaderNames())
	}
}

// A secret goes nowhere it was not given for.
func TestSecretIsNotPutToAnotherUse(t *testing.T) {
	h := newFixture(t)
	forms := registry.Forms{Registry: h.registry}
	user := h.user("mina", storage.RoleDeveloper)
	mina := h.visitor(user)
	h.want(h.register(mina, full+standard("shop", "a")[1:]), 200, 1, "a registration")
	a := h.want(h.update(mina, "shop", `{"webhook_url":"https://elsewhere.example.com/b"}`), 200, 1,
		"another address of the webhook")
	if c, _ := h.store.Capability(t.Context(), "shop"); !c.WebhookSecret.IsZero() ||
		!strings.Contains(a.body.Data.Warning, "webhook_secret") {
		t.Errorf("it is signed with the old one, and the answer is %s", a.text)
	}
	a = h.want(h.update(mina, "shop", `{"auth_type":"basic"}`), 400, int(openapi.ErrcodeBadField),
		"another kind of credential")
	if !strings.Contains(a.body.Msg, "auth_secret") {
		t.Errorf("%s", a.text)
	}
	h.want(h.update(mina, "shop", `{"upstream_url":"https://evil.example.com"}`), 400, int(openapi.ErrcodeBadField),
		"another upstream")
	if c, _ := h.store.Capability(t.Context(), "shop"); c.AuthType != "bearer" ||
		c.UpstreamURL != "https://api.example.com" {
		t.Errorf("stored is %+v", c)
	}
	// Where it is registered again in the console without them, they stay with the server alone.
	if _, _, _, err := forms.RegisterBody(t.Context(), user, []byte(standard("shop", "a"))); err != nil {
		t.Fatal(err)
	}
	if c, _ := h.store.Capability(t.Context(), "shop"); len(c.SecretHeaders()) != 2 {
		t.Errorf("stored is %+v", c)
	}
	more := strings.Replace(standard("shop", "a"), "{",
		`{"headers":{"X-More":"more-secret","x-tenant":"tenant-changed"},`, 1)
	if _, _, _, err := forms.RegisterBody(t.Context(), user, []byte(more)); err != nil {
		t.Fatal(err)
	}
	if c, _ := h.store.Capability(t.Context(), "shop"); len(c.SecretHeaders()) != 3 ||
		!c.SecretHeaders()["x-tenant"].Equal("tenant-changed") {
		t.Errorf("with one more, %v are kept", c.HeaderNames())
	}
	other := strings.Replace(standard("shop", "a"), "api.example.com", "other.example.com", 1)
	if _, _, _, err := forms.RegisterBody(t.Context(), user, []byte(other)); err != nil {
		t.Fatal(err)
	}
	if c, _ := h.store.Capability(t.Context(), "shop"); len(c.SecretHeaders()) != 0 {
		t.Errorf("another server is sent %v", c.HeaderNames())
	}
}

func TestUpdateOfACapabilityIsForItsOwnerAndAdministrators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		mina, root := h.developer("mina"), h.visitor(h.user("root", storage.RoleAdmin))
		h.want(h.register(mina, standard("shop", "a")), 200, 1, "a registration")
		const change = `{"label":"changed"}`
		for name, cookie := range map[string]string{
			"another developer": h.developer("ada"), "an auditor": h.visitor(h.user("audit", storage.RoleAuditor)),
			"a user without a role": h.visitor(h.user("plain", "")),
		} {
			h.want(h.update(cookie, "shop", change), 403, 403, name)
		}
		h.want(h.update("", "shop", change), 401, 401, "nobody")
		h.want(h.update("", "shop", change, "Authorization", "Bearer x"), 401, 401, "a bearer token")
		h.want(h.update(mina, "shop", change, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example.com"),
			403, 403, "a page of another site")
		h.want(h.update(mina, "shop", change, "Content-Type", "text/plain"), 400, 400, "a form of another site")
		h.want(h.update(mina, "none", change), 404, 404, "one that is not there")
		if c, _ := h.store.Capability(t.Context(), "shop"); c.Label != "" {
			t.Fatalf("it is changed: %+v", c)
		}
		h.want(h.update(mina, "shop", `{"label":"owner's"}`), 200, 1, "the owner")
		h.want(h.update(root, "shop", `{"label":"admin's"}`), 200, 1, "an administrator")
		if c, _ := h.store.Capability(t.Context(), "shop"); c.Label != "admin's" || c.Owner == "" {
			t.Errorf("stored is %+v", c)
		}
		received := len(h.events)
		time.Sleep(10*time.Minute + time.Second)
		for _, cookie := range []string{mina, root} {
			h.want(h.update(cookie, "shop", change), 403, 4031, "an update later than ten minutes after the sign-in")
		}
		if c, _ := h.store.Capability(t.Context(), "shop"); c.Label != "admin's" || len(h.events) != received {
			t.Errorf("it is changed, or the trail says so: %+v", c)
		}
	})
}

// An unknown field is refused: its sender expects an effect.
func TestUpdateThatIsWrongChangesNothing(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	h.want(h.register(mina, full+standard("shop", "a")[1:]), 200, 1, "a registration")
	before := h.stored("shop")
	for _, body := range []string{
		``, `[]`, `null`, `{`, `{"label":7}`, `{"label":"a","label":"b"}`, `{"lable":"x"}`, `{"openapi":{}}`,
		`{"member":"x"}`, `{"owner":"x"}`, `{"timeout":0}`,
		`{"timeout":"1"}`, `{"timeout":601}`, `{"label":"` + strings.Repeat("x", 201) + `"}`, `{"auth_type":"magic"}`,
		`{"auth_secret":""}`, `{"auth_secret":null}`,
		`{"webhook_url":"ftp://x"}`, `{"webhook_url":"","webhook_secret":"x"}`, `{"headers":[]}`,
		`{"headers":{"X-A":7}}`, `{"headers":{"X-A":"1","X-A":"2"}}`,
		`{"headers":{"X-A":"1","x_a":"2"}}`, `{"headers":{"Host":"x"}}`, `{"label":"` + strings.Repeat("x", 300<<10) +
			`"}`,
	} {
		a := h.update(mina, "shop", body)
		if a.status != 400 || len(a.body.Msg) < 20 || strings.Contains(a.text, "-secret") {
			t.Errorf("%.60s is answered %d %s", body, a.status, a.text)
		}
	}
	if after := h.stored("shop"); after != before {
		t.Errorf("stored is %s", after)
	}
}
