package command

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// submitted posts a form and returns the answer.
func submitted(t *testing.T, c *http.Client, to string, form url.Values) (int, string) {
	t.Helper()
	resp, err := c.PostForm(to, form)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestUserProfileChangesAreSeenAtOnceAndTheirDataIsTheirs(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--signup", "open")
	token := bearer(t, signIn(t, s))
	userinfo := func() string {
		_, body := get(t, http.DefaultClient, s.base+"/oauth/userinfo", "Authorization", "Bearer "+token)
		return body
	}
	who, c := firstRunOf(t, s.data).Admin, person(t)
	fill(t, c, s.base+"/oauth/signin", 303, "username", who.Username, "password", who.Password)
	for _, nickname := range []string{"Root", "根"} {
		userinfo() // the claims are remembered
		fill(t, c, s.base+"/oauth/account/profile", 303, "nickname", nickname, "location", "Lagos")
		if body := userinfo(); !strings.Contains(body, nickname) || !strings.Contains(body, "Lagos") {
			t.Errorf("userinfo says %s", body)
		}
	}
	if code, body := submitted(t, c, s.base+"/oauth/account/delete", url.Values{"confirm": {who.Username}}); code != 409 ||
		!strings.Contains(body, "administrator") {
		t.Errorf("the last administrator's deletion = %d %s", code, body)
	}
	ada := person(t)
	fill(t, ada, s.base+"/oauth/signin/signup", 303, "username", "ada", "password", "battery staple")
	fill(t, ada, s.base+"/oauth/account/profile", 303, "name", "Ada") // written down at once, and with it all before
	code, body := submitted(t, ada, s.base+"/oauth/account/data", url.Values{})
	var file struct {
		Format  string
		Profile struct{ Username, Name string }
		Audit   struct {
			Records  []struct{ Kind, Detail string }
			Complete bool
		}
	}
	if err := json.Unmarshal([]byte(body), &file); code != 200 || err != nil || file.Format != "keystile.account.1" ||
		file.Profile.Username != "ada" || file.Profile.Name != "Ada" {
		t.Fatalf("data = %d %s, %v", code, body, err)
	}
	if !file.Audit.Complete || !strings.Contains(body, "profile changed: name") || strings.Contains(body, who.Username+`"`) {
		t.Errorf("the file says %s", body)
	}
	if code, body := submitted(t, ada, s.base+"/oauth/account/delete", url.Values{"confirm": {"ada"}}); code != 200 {
		t.Errorf("deletion = %d %s", code, body)
	}
	fill(t, ada, s.base+"/oauth/signin", 401, "username", "ada", "password", "battery staple")
	fill(t, ada, s.base+"/oauth/signin/signup", 303, "username", "ada", "password", "battery staple") // the name is free
}

func TestOperatorSaysHowAnAccountIsDeleted(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--account-delete", "ask", "--account-contact", "privacy@example.com")
	who, c := firstRunOf(t, s.data).Admin, person(t)
	fill(t, c, s.base+"/oauth/signin", 303, "username", who.Username, "password", who.Password)
	if code, body := submitted(t, c, s.base+"/oauth/account/delete", url.Values{"confirm": {who.Username}}); code != 200 ||
		!strings.Contains(body, "mailto:privacy@example.com") {
		t.Errorf("asking = %d %s", code, body)
	}
	off := start(t, t.TempDir(), "--account-delete", "off")
	if resp, _ := get(t, person(t), off.base+"/oauth/account/delete"); resp.StatusCode != 404 {
		t.Errorf("off: the page is %d", resp.StatusCode)
	}
}
