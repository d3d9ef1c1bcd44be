package admin

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/record/notify"
)

func TestOperatorChoosesWhereUserEventsGo(t *testing.T) {
	o := newOffice(t)
	first := o.must("webhook", "set", "--url", "https://hooks.example.com/users")
	secret, _ := first["secret"].(string)
	if !strings.HasPrefix(secret, "whsec_") || first["url"] != "https://hooks.example.com/users" {
		t.Errorf("webhook set = %v, want the URL and a secret", first)
	}
	if again := o.must("webhook", "set", "--url", "https://hooks.example.com/other"); again["secret"] != nil {
		t.Errorf("the second URL = %v, want the secret to stay, and not to be shown", again)
	}
	if renewed := o.must("webhook", "set", "--url", "https://hooks.example.com/other",
		"--new-secret"); renewed["secret"] == nil || renewed["secret"] == secret {
		t.Errorf("--new-secret = %v, want another", renewed)
	}
	if v := o.must("webhook", "show"); v["url"] != "https://hooks.example.com/other" || len(v) != 1 {
		t.Errorf("webhook show = %v, want the URL alone", v)
	}
	o.user("ada")
	rows := o.rows("webhook", "list")
	if len(rows) != 1 || rows[0]["event"] != notify.UserCreated || rows[0]["waiting"] != true {
		t.Errorf("webhook list = %v, want that ada was created", rows)
	}
	if v := o.must("webhook", "set", "--url="); v["url"] != "" {
		t.Errorf("webhook set none = %v", v)
	}
	o.user("ben")
	if rows := o.rows("webhook", "list"); len(rows) != 1 {
		t.Errorf("without a URL %d wait, want the one of before", len(rows))
	}
}

func TestWebhookOfUserEventsIsHTTPS(t *testing.T) {
	o := newOffice(t)
	for _, bad := range []string{"http://hooks.example.com/", "ftp://hooks.example.com/", "hooks",
		"https://u:p@hooks.example.com/"} {
		if code, _, _ := o.run("", "webhook", "set", "--url", bad); code == 0 {
			t.Errorf("webhook set %q is taken", bad)
		}
	}
	if v := o.must("webhook", "set", "--url", "http://127.0.0.1:9000/users"); v["url"] != "http://127.0.0.1:9000/users" {
		t.Errorf("an address of this machine = %v", v)
	}
}

func TestApplicationsLogoutAddressIsSetAndShown(t *testing.T) {
	o := newOffice(t)
	made := o.must("app", "create", "--name", "Shop", "--domain", "shop.example.com", "--backchannel-logout-uri",
		"https://shop.example.com/out")
	id := made["client_id"].(string)
	if v := o.must("app", "show", id); v["backchannel_logout_uri"] != "https://shop.example.com/out" {
		t.Errorf("app show = %v", v)
	}
	if code, _, errs := o.run("", "app", "set", id, "--backchannel-logout-uri",
		"https://evil.example.net/out"); code == 0 || !strings.Contains(errs, "not among the application's domains") {
		t.Errorf("a host of others = %d, %s", code, errs)
	}
	if v := o.must("app", "set", id, "--backchannel-logout-uri="); v["backchannel_logout_uri"] != "" {
		t.Errorf("app set without = %v", v)
	}
	if rows := o.rows("webhook", "list", "--app", id); len(rows) != 0 {
		t.Errorf("webhook list = %v", rows)
	}
}
