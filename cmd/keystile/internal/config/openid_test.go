package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

const someProviders = "connectors:\n  oidc:\n    - {preset: google, id: g1, secret: secret-of-google, domains: " +
	"'corp.example, Other.example'}\n" +
	"    - preset: keycloak\n      name: staff\n      label: Staff\n" +
	"      issuer: https://id.corp.example/realms/staff\n      id: k1\n      secret: secret-of-staff\n" +
	"      scopes: openid profile email\n      trust_email: true\n      groups_claim: groups\n" +
	"      groups_map: {/staff/ops: ops, /staff/dev: dev}\n      allow_private: id.corp.example:443\n" +
	"    - {preset: entra, tenant: 9188040d-6c67-4c5b-b112-36a304b66dad, id: e1, secret: secret-of-entra}\n" +
	"    - {preset: github, id: h1, secret: secret-of-github}\n    - {issuer: 'https://x.example', id: o1, secret: " +
	"secret-of-x}\n"

func TestOpenIDConnectProvidersAreRead(t *testing.T) {
	c := load(t, []string{"KEYSTILE_CONFIG=" + write(t, someProviders)})
	secret := func(of string) storage.Secret { return storage.NewSecret("secret-of-" + of) }
	want := []OpenID{
		{Preset: "google", Name: "google", Label: "Google", ID: "g1", Secret: secret("google"),
			Domains: []string{"corp.example", "other.example"}},
		{Preset: "keycloak", Name: "staff", Label: "Staff", Issuer: "https://id.corp.example/realms/staff", ID: "k1",
			Secret: secret("staff"), Scopes: []string{"openid", "profile", "email"}, TrustEmail: true,
			GroupsClaim: "groups", GroupsMap: map[string]string{"/staff/ops": "ops", "/staff/dev": "dev"},
			AllowPrivate: []string{"id.corp.example:443"}},
		{Preset: "entra", Name: "entra", Label: "Microsoft", Tenant: "9188040d-6c67-4c5b-b112-36a304b66dad", ID: "e1",
			Secret: secret("entra")},
		{Preset: "github", Name: "github", Label: "GitHub", ID: "h1", Secret: secret("github")},
		{Preset: "oidc", Name: "oidc", Label: "OpenID", Issuer: "https://x.example", ID: "o1", Secret: secret("x")},
	}
	if !reflect.DeepEqual(c.OpenID, want) {
		t.Errorf("read %+v, want %+v", c.OpenID, want)
	}
	var out strings.Builder
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "secret-of") || strings.Count(text, `"secret":"[secret]"`) != 5 || !strings.Contains(text, "https://id.corp.example/realms/staff") {
		t.Errorf("printed: %s", text)
	}
	again := load(t, []string{"KEYSTILE_CONFIG=" + write(t, out.String())})
	for i := range again.OpenID {
		again.OpenID[i].Secret = want[i].Secret
	}
	if !reflect.DeepEqual(again.OpenID, want) {
		t.Errorf("printed, and read as %+v", again.OpenID)
	}
	env := load(t, []string{`KEYSTILE_CONNECTORS_OIDC=[{"preset":"github","id":"h1","secret":"secret-of-github"}]`})
	if !reflect.DeepEqual(env.OpenID, want[3:4]) {
		t.Errorf("of the environment: %+v", env.OpenID)
	}
}

func TestProviderThatLacksSomethingIsAComplaint(t *testing.T) {
	for list, want := range map[string]string{
		`[{"preset":"google","id":"a"}]`:                                                                        "give both id and secret",
		`[{"preset":"google","secret":"hush-hush"}]`:                                                            "give both id and secret",
		`[{"id":"a","secret":"hush-hush"}]`:                                                                     "give its issuer",
		`[{"preset":"keycloak","id":"a","secret":"hush-hush"}]`:                                                 "give its issuer",
		`[{"preset":"keycloak","issuer":"https://a.example","id":"a","secret":"hush-hush"}]`:                    "/realms/",
		`[{"preset":"entra","id":"a","secret":"hush-hush"}]`:                                                    "has a tenant",
		`[{"preset":"google","tenant":"x","id":"a","secret":"hush-hush"}]`:                                      "has a tenant",
		`[{"preset":"google","issuer":"https://a.example","id":"a","secret":"hush-hush"}]`:                      "is known",
		`[{"preset":"github","scopes":"repo","id":"a","secret":"hush-hush"}]`:                                   "no scopes",
		`[{"preset":"gogle","id":"a","secret":"hush-hush"}]`:                                                    "one of entra, github, google, keycloak, oidc",
		`[{"preset":"google","id":"a","secrt":"hush-hush"}]`:                                                    `nearest known one is "secret"`,
		`[{"preset":"google","id":"a","secret":["hush-hush"]}]`:                                                 "a plain value",
		`[{"name":"wx","issuer":"https://a.example","id":"a","secret":"hush-hush"}]`:                            "no other way to sign in",
		`[{"name":"My Id","issuer":"https://a.example","id":"a","secret":"hush-hush"}]`:                         "a letter of a to z",
		`[{"issuer":"https://a.example","id":"a","secret":"hush-hush","allow_private":"x"}]`:                    "cannot be allowed",
		`[{"preset":"github","id":"a","secret":"hush-hush"},{"preset":"github","id":"b","secret":"hush-hush"}]`: "there twice",
		`google=hush-hush`:                         "a list of objects",
		`[{"preset":"google","secret":"hush-hush"`: "a list of objects",

		`[{"preset":"google","id":"a","secret":"hush-hush","trust_email":"maybe"}]`: "true or false",

		`[{"preset":"google","id":"a","secret":"hush-hush","groups_claim":"groups"}]`:                     "give both groups_claim",
		`[{"preset":"google","id":"a","secret":"hush-hush","groups_map":{"a":"b"}}]`:                      "give both groups_claim",
		`[{"preset":"google","id":"a","secret":"hush-hush","groups_claim":"g","groups_map":"a"}]`:         "it must be an object",
		`[{"preset":"google","id":"a","secret":"hush-hush","groups_claim":"g","groups_map":{"a":["b"]}}]`: "an object of texts",
		`[{"preset":"github","id":"a","secret":"hush-hush","groups_claim":"g","groups_map":{"a":"b"}}]`:   "no groups_claim",
	} {
		env := []string{"KEYSTILE_CONNECTORS_OIDC=" + list}
		wantComplaint(t, env, "", want)
		if _, err := Load(cli.Args{}, env); err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the complaint has the secret: %v", err)
		}
	}
	wantComplaint(t, []string{"KEYSTILE_FAKE_PROVIDERS=true", `KEYSTILE_CONNECTORS_OIDC=[{"preset":"github","id":"a","secret":"hush-hush"}]`}, "", "real ones too")
}
