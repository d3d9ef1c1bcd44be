package command

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The old way to sign in, against the binary: connect.php, the browser's leg, the callback.
func TestOldApplicationSignsItsUsersIn(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	record := firstRunOf(t, data)
	must(t, "app", "set", record.App.ClientID, "--legacy-success-code", "0", "--data", data)
	ask := func(form url.Values) (answer map[string]any) {
		t.Helper()
		form.Set("appid", record.App.ClientID)
		form.Set("appkey", record.App.ClientSecret)
		_, body := get(t, http.DefaultClient, s.base+"/connect.php?"+form.Encode())
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return answer
	}
	began := ask(url.Values{"act": {"login"}, "type": {"self"}, "redirect_uri": {record.App.RedirectURI}, "state": {"s1"}})
	if began["code"] != 0.0 {
		t.Fatalf("act=login = %v", began)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, _ := get(t, stay, began["url"].(string), "Cookie", cookieOf(t, s).String())
	back, err := resp.Location()
	if err != nil || back.Query().Get("type") != "self" || back.Query().Get("state") != "s1" {
		t.Fatalf("the browser comes back with %d to %v, %v", resp.StatusCode, back, err)
	}
	code := back.Query().Get("code")
	came := ask(url.Values{"act": {"callback"}, "type": {"self"}, "code": {code}})
	if came["code"] != 0.0 || len(came["social_uid"].(string)) != 32 || came["access_token"] == "" {
		t.Errorf("act=callback = %v", came)
	}
	if again := ask(url.Values{"act": {"callback"}, "type": {"self"}, "code": {code}}); again["errcode"] != 40163.0 {
		t.Errorf("act=callback again = %v", again)
	}
	wantUserInfo(t, s, came["access_token"].(string), 200)

	s.stop()
	exit, report, errs := command(t, "", "report", "migration", "--data", data)
	if exit != 0 || !strings.Contains(report, record.App.ClientID) || !strings.Contains(report, "PLAIN KEY") {
		t.Errorf("report = %d %s %s", exit, report, errs)
	}
}
