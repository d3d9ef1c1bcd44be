package signin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/profile"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// edits sends the form of the profile as Mina fills it in; pairs change it.
func (d *accountFixture) edits(cookie string, pairs ...string) answer {
	d.t.Helper()
	form := map[string]string{"name": "Mina Okafor", "nickname": "Mina", "picture": "https://pics.example.com/m.png?s=1",
		"gender": "female", "location": "上海"}
	for i := 0; i < len(pairs); i += 2 {
		form[pairs[i]] = pairs[i+1]
	}
	all := []string{"cookie", cookie}
	for name, value := range form {
		all = append(all, name, value)
	}
	return d.do(sends(profile.Path, all...))
}

func (d *accountFixture) profile() users.Profile {
	d.t.Helper()
	u, err := d.store.User(context.Background(), d.mina.Sub)
	must(d.t, err)
	return users.ProfileOf(u)
}

func TestProfileIsChangedInOneWriteAndWrittenDownWithoutItsTexts(t *testing.T) {
	d, written := newAccountFixture(t), &fakeAudit{}
	here := d.enterMina()
	d.steps.Trail = trail.New(written, d.steps.Peer)
	if body := d.page(here); !strings.Contains(body, `href="`+profile.Path+`"`) {
		t.Error("the account page has no link to the profile")
	}
	before, err := d.store.User(t.Context(), d.mina.Sub)
	must(t, err)
	if a := d.edits(here, "nickname", "  米娜 ❤️ "); a.Code != 303 || a.Header().Get("Location") != profile.Path+"?saved=1" {
		t.Fatalf("saving = %d %s", a.Code, a.body)
	}
	want := users.Profile{Name: "Mina Okafor", Nickname: "米娜 ❤️", Picture: "https://pics.example.com/m.png?s=1",
		Gender: "female", Location: "上海"}
	if got := d.profile(); got != want {
		t.Errorf("stored is %+v", got)
	}
	after, err := d.store.User(t.Context(), d.mina.Sub)
	must(t, err)
	if after.Username != before.Username || after.Role != before.Role || after.Email != before.Email {
		t.Errorf("more has changed: %+v", after)
	}
	if want := []string{"account  profile changed: name nickname picture gender location"}; !slices.Equal(written.notes,
		want) {
		t.Errorf("the trail says %q", written.notes)
	}
	if a := d.edits(here, "nickname", "米娜 ❤️"); a.Code != 303 || len(written.notes) != 1 {
		t.Errorf("saving the same = %d, and the trail says %q", a.Code, written.notes)
	}
	if again, _ := d.store.User(t.Context(), d.mina.Sub); again.Version != after.Version {
		t.Error("what has not changed was written")
	}
	body := d.do(get(profile.Path+"?saved=1", here)).body
	if !strings.Contains(body, "Your profile is saved.") || !strings.Contains(body, `value="上海"`) || !strings.Contains(body, `value="female" selected`) {
		t.Errorf("the page after it: %s", body)
	}
}

func TestProfileThatIsInvalidIsRefusedAndNotStored(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	before := d.profile()
	cases := [][2]string{
		{"name", strings.Repeat("a", 201)}, {"location", "a\nb"}, {"nickname", "a\tb"}, {"name", "x\x00y"},
		{"gender", "other"}, {"gender", "Male"}, {"picture", "http://example.com/a.png"}, {"picture", "javascript:alert(1)"},
		{"picture", "https://"},
		{"picture", "//example.com/a.png"}, {"picture", "https://user:secret@example.com/"},
		{"picture", "https://example.com/\"onerror=alert(1)"},
		{"picture", "data:image/png;base64,AAAA"}, {"picture", "https://example.com/" + strings.Repeat("a", 1024)},
		{"picture", "https://exämple.com/"},
	}
	for _, text := range hiddentext.Hidden {
		cases = append(cases, [2]string{"nickname", "Mi" + text + "na"})
	}
	for _, c := range cases {
		d.steps.Rates = limits.NewRates(nil)
		a := d.edits(here, c[0], c[1])
		if a.Code != 400 || !strings.Contains(a.body, `role="alert"`) || c[0] != "gender" && strings.Count(a.body, `aria-invalid="true"`) != 1 {
			t.Errorf("%s %q = %d", c[0], c[1], a.Code)
		}
	}
	if got := d.profile(); got != before {
		t.Errorf("stored is %+v", got)
	}
}

// A nickname of a provider may be what nobody would be let type.
func TestFieldThatIsLeftAsItIsIsNotLookedAt(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	u, err := d.store.User(t.Context(), d.mina.Sub)
	must(t, err)
	u.Picture, u.Nickname = "http://thirdwx.example.com/mmopen/1", "Mi\u200bna"
	_, err = d.store.SaveUser(t.Context(), u)
	must(t, err)
	if a := d.edits(here, "picture", u.Picture, "nickname", u.Nickname); a.Code != 303 ||
		d.profile().Picture != u.Picture || d.profile().Nickname != u.Nickname || d.profile().Location != "上海" {
		t.Errorf("%d, stored is %+v", a.Code, d.profile())
	}
	if a := d.edits(here, "picture", ""); a.Code != 303 || d.profile().Picture != "" {
		t.Errorf("taking the picture away: %d, stored is %+v", a.Code, d.profile())
	}
}

func TestProfileShowsWhatWasTypedAndRunsNothingOfIt(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	if a := d.edits(here, "name", evil, "nickname", evil, "location", evil); a.Code != 303 {
		t.Fatalf("%d %s", a.Code, a.body)
	}
	for _, path := range []string{profile.Path, "/oauth/account", "/oauth/account/delete", "/oauth/account/data"} {
		if body := d.do(get(path, here)).body; strings.Contains(body, "<script>") || strings.Contains(body, "<img src=x") ||
			!strings.Contains(body, "&lt;script") && path != "/oauth/account/data" {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestProfileChangesInARowWait(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	for range limits.PerUser {
		d.edits(here, "name", "")
	}
	if a := d.edits(here, "name", "Late"); a.Code != 429 || a.Header().Get("Retry-After") == "" || d.profile().Name != "" {
		t.Errorf("%d, Retry-After %q, name %q", a.Code, a.Header().Get("Retry-After"), d.profile().Name)
	}
	ada, theirs := d.ada()
	if a := d.edits(theirs); a.Code != 303 {
		t.Errorf("somebody else waits too: %d", a.Code)
	}
	if u, err := d.store.User(t.Context(), ada.Sub); err != nil || u.Location != "上海" {
		t.Errorf("%+v, %v", u, err)
	}
}

// racingProfile changes a user's role between the read and the write of somebody else.
type racingProfile struct {
	users.Store
	store *storage.Store
	done  bool
}

func (r *racingProfile) SaveUser(ctx context.Context, u storage.User) (storage.User, error) {
	if !r.done {
		r.done = true
		other, err := r.store.User(ctx, u.Sub)
		other.Role = storage.RoleAuditor
		_, err2 := r.store.SaveUser(ctx, other)
		if err := errors.Join(err, err2); err != nil {
			return u, err
		}
	}
	return r.Store.SaveUser(ctx, u)
}

func TestProfileOverwritesNothingElse(t *testing.T) {
	d := newAccountFixture(t)
	table := users.New(&racingProfile{Store: d.store, store: d.store.Store}, cheap(d.hashes))
	before, err := table.SetProfile(t.Context(), d.mina.Sub, users.Profile{Name: "New"})
	must(t, err)
	u, err := d.store.User(t.Context(), d.mina.Sub)
	must(t, err)
	if u.Role != storage.RoleAuditor || u.Name != "New" || u.Nickname != "" || before.Nickname != "Mina Okafor" {
		t.Errorf("stored is %+v, before it was %+v", u, before)
	}
}
