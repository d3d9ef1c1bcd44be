package signin

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/apikeys"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
)

var keyText = regexp.MustCompile(handle.APIKeyPattern)

// makes sends the form that makes a key, as Mina fills it in; pairs change it.
func (d *accountFixture) makes(cookie string, pairs ...string) answer {
	d.t.Helper()
	form := map[string]string{"name": "nightly build", "what": "all", "days": "90"}
	for i := 0; i < len(pairs); i += 2 {
		form[pairs[i]] = pairs[i+1]
	}
	all := []string{"cookie", cookie}
	for name, value := range form {
		all = append(all, name, value)
	}
	return d.do(sends(apikeys.Path, all...))
}

func (d *accountFixture) keys(sub string) []apikey.Key {
	d.t.Helper()
	all, err := d.store.APIKeys(context.Background(), sub)
	must(d.t, err)
	return all
}

func TestAPIKeyIsShownOnce(t *testing.T) {
	d, written := newAccountFixture(t), &fakeAudit{}
	d.steps.Trail = trail.New(written, d.steps.Peer)
	here := d.enterMina()
	if body := d.page(here); !strings.Contains(body, `href="`+apikeys.Path+`"`) {
		t.Error("the account page has no link to the keys")
	}
	a := d.makes(here, "what", "read", "identity", "1")
	text := keyText.FindString(a.body)
	if a.Code != 200 || !handle.IsAPIKey(text) || a.Header().Get("Cache-Control") != "no-store" ||
		a.Header().Get("Location") != "" {
		t.Fatalf("make = %d, %q: %s", a.Code, text, a.body)
	}
	all := d.keys(d.mina.Sub)
	if len(all) != 1 || all[0].ID != handle.Hash(text) || all[0].Name != "nightly build" ||
		all[0].Scope != "email openid profile tools/read" ||
		all[0].ExpiresAt.Sub(all[0].CreatedAt) != 90*24*time.Hour {
		t.Fatalf("stored are %+v", all)
	}
	list := d.do(get(apikeys.Path, here))
	for _, want := range []string{"nightly build", "Tools that read and change nothing", "Your email address",
		"Not used yet", "Valid until", all[0].ID} {
		if !strings.Contains(list.body, want) {
			t.Errorf("the list lacks %q: %s", want, list.body)
		}
	}
	for what, seen := range map[string]string{"the list": list.body, "the account page": d.page(here),
		"the log": d.log.String(), "the trail": strings.Join(written.notes, "\n")} {
		if strings.Contains(seen, text) || strings.Contains(seen, text[3:35]) {
			t.Errorf("%s holds the key: %s", what, seen)
		}
	}
	if !strings.Contains(strings.Join(written.notes, "\n"),
		"API key made: "+all[0].ID+" email openid profile tools/read") {
		t.Errorf("the trail holds %q", written.notes)
	}
}

func TestScopeOfAKeyIsWhatWasChosen(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	for want, pairs := range map[string][]string{
		"tools":                         {"what", "all", "some", "shop"},
		"tools/read":                    {"what", "read"},
		"tools:shop":                    {"what", "some", "some", "shop"},
		"tools:b:support tools:shop/x":  {"what", "some", "some", " shop/x，b:support, tools:shop/x "},
		"email openid profile tools:s2": {"what", "some", "some", "s2", "identity", "1"},
	} {
		if a := d.makes(here, append(pairs, "name", want)...); a.Code != 200 {
			t.Errorf("%v = %d %s", pairs, a.Code, a.body)
		}
		found := false
		for _, k := range d.keys(d.mina.Sub) {
			found = found || k.Name == want && k.Scope == want
		}
		if !found {
			t.Errorf("%v: no key has the scope %s", pairs, want)
		}
	}
}

func TestKeyThatIsFilledInWronglyIsNotMade(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	for want, pairs := range map[string][]string{
		"Give the key a name":       {"name", "  "},
		"100 letters at most":       {"name", strings.Repeat("x", 101)},
		"fewer if they are Chinese": {"name", "a\nb"},
		"Name the tools":            {"what", "some", "some", ""},
		"such as shop, shop/getPet": {"what", "some", "some", "shop apps/"},
		"b:support":                 {"what", "some", "some", strings.Repeat("shop/getPet ", 90)},
		"Choose what":               {"what", "apps"},
		"1 to 365 days":             {"days", "366"},
		"to 365 days":               {"days", "0"},
		"365 days.":                 {"days", "x"},
	} {
		a := d.makes(here, append([]string{"some", "kept"}, pairs...)...)
		if a.Code != 400 || !strings.Contains(a.body, want) || !strings.Contains(a.body, `role="alert"`) || keyText.FindString(a.body) != "" {
			t.Errorf("%v = %d, want 400 with %q", pairs, a.Code, want)
		}
	}
	if a := d.makes(here, "days", "x", "name", `"><b>`); !strings.Contains(a.body, `value="&#34;&gt;&lt;b&gt;"`) {
		t.Errorf("what was typed is not kept, or not escaped: %s", a.body)
	}
	if all := d.keys(d.mina.Sub); len(all) != 0 {
		t.Errorf("made are %+v", all)
	}
}

// Decision 57: a key outlives the session of a browser that its user has left.
func TestKeyIsMadeAfterARecentSignInOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newAccountFixture(t)
		here := d.enterMina()
		if a := d.makes(here); a.Code != 200 {
			t.Fatalf("make = %d", a.Code)
		}
		time.Sleep(11 * time.Minute)
		if a := d.do(get(apikeys.Path, here)); strings.Contains(a.body, `name="what"`) || !strings.Contains(a.body, `href="`+web.ConfirmPath+`"`) {
			t.Errorf("the form is offered: %s", a.body)
		}
		if a := d.makes(here); a.Code != 200 || keyText.FindString(a.body) != "" ||
			!strings.Contains(a.body, "What you typed is kept") {
			t.Errorf("make = %d %s", a.Code, a.body)
		}
		all := d.keys(d.mina.Sub)
		if len(all) != 1 {
			t.Fatalf("made are %+v", all)
		}
		a := d.do(sends(apikeys.EndPath, "cookie", here, "key", all[0].ID)) // it takes no recent one to revoke
		if a.Code != 303 || a.Header().Get("Location") != apikeys.Path || len(d.keys(d.mina.Sub)) != 0 {
			t.Errorf("revoke = %d to %q", a.Code, a.Header().Get("Location"))
		}
		if len(d.revoked) != 1 || d.revoked[0].Kind != driver.RevokeJTI || d.revoked[0].ID != all[0].ID {
			t.Errorf("revoked %+v", d.revoked)
		}
	})
}

func TestKeyIsRevokedByItsOwnerOnly(t *testing.T) {
	d := newAccountFixture(t)
	_, theirs := d.ada()
	here := d.enterMina()
	d.makes(here)
	id := d.keys(d.mina.Sub)[0].ID
	for what, r := range map[string]*http.Request{
		"somebody else": sends(apikeys.EndPath, "cookie", theirs, "key", id),
		"nobody":        sends(apikeys.EndPath, "key", id),
		"an unknown id": sends(apikeys.EndPath, "cookie", here, "key", handle.Hash("x")),
	} {
		if a := d.do(r); a.Code != 303 || len(d.keys(d.mina.Sub)) != 1 || len(d.revoked) != 0 {
			t.Errorf("%s = %d, revoked %v", what, a.Code, d.revoked)
		}
	}
	foreign := sends(apikeys.EndPath, "cookie", here, "key", id)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := d.do(foreign); a.Code != 403 || len(d.keys(d.mina.Sub)) != 1 {
		t.Errorf("another site's form = %d", a.Code)
	}
	foreign = sends(apikeys.Path, "cookie", here, "name", "x", "what", "all", "days", "1")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := d.do(foreign); a.Code != 403 || len(d.keys(d.mina.Sub)) != 1 {
		t.Errorf("another site's form = %d", a.Code)
	}
	if a := d.do(get(apikeys.Path, theirs)); strings.Contains(a.body, id) || strings.Contains(a.body, "nightly") {
		t.Error("somebody else sees it")
	}
	if a := d.do(get(apikeys.Path)); !strings.Contains(a.body, `name="password"`) {
		t.Errorf("nobody is shown %s", a.body)
	}
	d.err = storage.ErrUnavailable
	if a := d.do(sends(apikeys.EndPath, "cookie", here, "key", id)); a.Code != 503 || len(d.keys(d.mina.Sub)) != 1 {
		t.Errorf("with the revoker away = %d; it must stay on the page to be tried again", a.Code)
	}
}

func TestTwentyFirstKeyIsRefused(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	for i := range apikey.MaxLive {
		if a := d.makes(here, "name", strconv.Itoa(i)); a.Code != 200 {
			t.Fatalf("key %d = %d", i, a.Code)
		}
	}
	if a := d.makes(here); a.Code != 400 || !strings.Contains(a.body, "Revoke one that is not needed") ||
		len(d.keys(d.mina.Sub)) != apikey.MaxLive {
		t.Errorf("one more = %d %s", a.Code, a.body)
	}
	if a := d.do(get(apikeys.Path, here)); strings.Contains(a.body, `name="what"`) {
		t.Error("the form is offered all the same")
	}
}

func TestKeyThatCouldNotBeWrittenDownIsNone(t *testing.T) {
	d := newAccountFixture(t)
	written := &fakeAudit{err: storage.ErrUnavailable}
	d.steps.Trail = trail.New(written, d.steps.Peer)
	here := d.enterMina()
	if a := d.makes(here); a.Code != 503 || keyText.FindString(a.body) != "" || len(d.keys(d.mina.Sub)) != 0 {
		t.Errorf("make = %d, keys %+v", a.Code, d.keys(d.mina.Sub))
	}
}

func TestKeysAreNotOfferedWithoutARevoker(t *testing.T) {
	h := newFixture(t, nil)
	here := h.enterMina()
	if a := h.do(get(apikeys.Path, here)); a.Code != 404 {
		t.Errorf("GET = %d", a.Code)
	}
	if a := h.do(get(web.AccountPath, here)); strings.Contains(a.body, apikeys.Path) {
		t.Error("they are linked")
	}
}

func TestKeysAreNotifiedToTheirUser(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		d := &accountFixture{fixture: h.fixture}
		here := h.enterMina()
		a := d.makes(here, "name", "backup")
		text := keyText.FindString(a.body)
		d.do(sends(apikeys.EndPath, "cookie", here, "key", handle.Hash(text)))
		said := "" // in any order
		for _, m := range h.tells() {
			said += m.subject + "\n" + m.text
		}
		if strings.Count(said, "API key made: backup") != 1 || strings.Count(said, "API key revoked: backup") != 1 ||
			strings.Contains(said, text) {
			t.Errorf("the mails say %s", said)
		}
	})
}

func TestKeysSpeakChinese(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	for _, r := range []*http.Request{get(apikeys.Path, here), sends(apikeys.Path, "cookie", here, "name", "备份", "what",
		"some", "some", "b:support", "days", "30")} {
		r.Header.Set("Accept-Language", "zh-CN")
		a := d.do(r)
		if a.Code != 200 || !strings.Contains(a.body, `lang="zh-CN"`) || !strings.Contains(a.body, "密钥") || strings.Contains(a.body, "Copy it now") || strings.Contains(a.body, "Make a key") {
			t.Errorf("%s = %d %s", r.Method, a.Code, a.body)
		}
	}
}
