package roundrobin

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPasswordSignsInAtEveryNode(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		p.enter()
		p.follow(p.post("/oauth/account/session", "session", sessionOf(t, p)))
		if a := p.get("/oauth/account"); !strings.Contains(a.body, `name="password"`) {
			t.Errorf("signed out at one node, and in at the other: %d %s", a.status, a.body)
		}
	})
}

// sessionOf reads the id of the one session of the account page.
func sessionOf(t *testing.T, p *person) string {
	t.Helper()
	a := p.get("/oauth/account")
	m := regexp.MustCompile(`name="session" value="([^"]+)"`).FindStringSubmatch(a.body)
	if m == nil {
		t.Fatalf("no session on %s", a.body)
	}
	return m[1]
}

func TestMailedCodeIsTypedInAtAnotherNode(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		a := p.submit(p.get("/oauth/signin/email"), "/oauth/signin/email", "address", address)
		p.submit(a, "/oauth/signin/email/code", "code", c.code("sign in"))
		p.signedIn("Ada")
		if all := c.post.with("Your code is"); len(all) != 1 {
			t.Errorf("%d mails were sent, want 1: %q", len(all), all)
		}
	})
}

func TestTriesOfACodeAreCountedByAllNodesTogether(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		a := p.submit(p.get("/oauth/signin/email"), "/oauth/signin/email", "address", address)
		right := c.code("sign in")
		wrong := "000000"
		if right == wrong {
			wrong = "000001"
		}
		for i := range 5 {
			if a := p.submit(a, "/oauth/signin/email/code", "code", wrong); a.status != 401 && i < 4 {
				t.Errorf("wrong code %d = %d", i+1, a.status)
			}
		}
		if a := p.post("/oauth/signin/email/code", "code", right); a.status != 400 || !strings.Contains(a.body, "has ended") {
			t.Errorf("the right code after five wrong ones = %d %s", a.status, a.body)
		}
	})
}

func TestPasswordIsResetAcrossNodes(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		a := p.submit(p.get("/oauth/signin/reset"), "/oauth/signin/reset", "address", address)
		const chosen = "another horse battery"
		p.submit(a, "/oauth/signin/reset/code", "code", c.code("new password"), "password", chosen)
		p.signedIn("Ada")
		other := c.person()
		for range c.nodes {
			if a := other.post("/oauth/signin", "username", "ada", "password", password); a.status != 401 {
				t.Errorf("the old password = %d", a.status)
			}
		}
		other.follow(other.post("/oauth/signin", "username", "ada", "password", chosen))
		other.signedIn("Ada")
	})
}

func TestCodeThatOneNodeShowsIsScannedAtAnother(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		phone := c.person()
		phone.enter()
		shown := p.get("/oauth/signin/qr")
		id := regexp.MustCompile(`name="id" value="([A-Z2-7]{26})"`).FindStringSubmatch(shown.body)
		poll := regexp.MustCompile(`data-poll="([^"]+)"`).FindStringSubmatch(shown.body)
		if id == nil || poll == nil {
			t.Fatalf("no code on %s", shown.body)
		}
		wants := func(want string) {
			t.Helper()
			for range c.nodes {
				if got := p.get(html.UnescapeString(poll[1])).member("status"); got != want {
					t.Errorf("the code is %s, want %s", got, want)
				}
			}
		}
		wants("pending")
		for range c.nodes { // opening it again changes nothing
			phone.get("/oauth/signin/scan/" + id[1])
		}
		wants("scanned")
		phone.follow(phone.post("/oauth/signin/scan/"+id[1], "answer", "confirm"))
		wants("confirmed")
		p.submit(shown, "/oauth/signin/qr/collect")
		p.signedIn("Ada")
		if a := p.post("/oauth/signin/qr/collect", "id", id[1]); a.status == http.StatusSeeOther {
			t.Error("a code was collected twice, at two nodes")
		}
	})
}

func TestVisitToAProviderEndsAtAnotherNode(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		there := p.follow(p.get("/oauth/signin/with/wx"))
		if !strings.Contains(there.what, "/wx/") {
			t.Fatalf("%s = %d %s", there.what, there.status, there.body)
		}
		action := formTag.FindStringSubmatch(there.body)
		if action == nil {
			t.Fatalf("the provider shows %s", there.body)
		}
		back := p.submit(there, html.UnescapeString(action[1]), "person", "mei")
		if len(p.cookies["open_sso_token"]) == 0 {
			t.Fatalf("%s = %d %s", back.what, back.status, back.body)
		}
		for range c.nodes {
			if a := p.get("/oauth/account"); a.status != 200 || strings.Contains(a.body, `name="password"`) {
				t.Errorf("not signed in: %d %s", a.status, a.body)
			}
		}
	})
}

// Requests for emails are counted in the store.
func TestMailsToAnAddressAreCountedByAllNodesTogether(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		if a := p.post("/oauth/signin/email", "address", address); a.status != 303 {
			t.Fatalf("asking for a code = %d", a.status)
		}
		if a := p.post("/oauth/signin/email", "address", address); a.status != 429 {
			t.Errorf("asking at once at the other node = %d, want 429", a.status)
		}
		time.Sleep(time.Minute)
		if a := p.post("/oauth/signin/email", "address", address); a.status != 303 {
			t.Errorf("asking after a minute = %d, want 303", a.status)
		}
	})
}

// The node that has promised an email is killed; another one sends it.
func TestMailThatAKilledNodeHasPromisedIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		promised, err := json.Marshal(map[string]any{"promised": map[string]string{
			"flow": "email", "address": address, "lang": "en", "code": "123456",
		}})
		must(t, err)
		_, err = c.store.AddMail(t.Context(), mailOf(string(promised)))
		must(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		if all := c.post.with("Your code is 123456"); len(all) != 1 || !strings.HasPrefix(all[0], address) {
			t.Errorf("sent: %q", c.post.with(""))
		}
	})
}
