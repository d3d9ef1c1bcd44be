package signin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/profile"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

// attributed is an accountFixture whose users change desk and pronouns. Mina has attributes, and is signed in.
type attributed struct {
	*accountFixture
	here  string
	audit *fakeAudit
}

func newAttributed(t *testing.T, all map[string]string, edits ...func(*Config)) *attributed {
	t.Helper()
	d := newAccountFixture(t, append(edits, func(c *Config) { c.ProfileAttributes = []string{"desk", "pronouns"} })...)
	a := &attributed{accountFixture: d, audit: &fakeAudit{}}
	a.set(all)
	a.here = d.enterMina()
	d.steps.Trail = trail.New(a.audit, d.steps.Peer)
	return a
}

// set changes Mina's attributes as an administrator does.
func (a *attributed) set(all map[string]string) {
	a.t.Helper()
	must(a.t, setAttributes(context.Background(), a.store.Store, a.mina.Sub, all))
}

func setAttributes(ctx context.Context, store *storage.Store, sub string, all map[string]string) error {
	u, err := store.User(ctx, sub)
	if err == nil {
		u.Attributes = all
		_, err = store.SaveUser(ctx, u)
	}
	return err
}

// has checks which attributes Mina has.
func (a *attributed) has(when string, want map[string]string) {
	a.t.Helper()
	u, err := a.store.User(context.Background(), a.mina.Sub)
	must(a.t, err)
	if !maps.Equal(u.Attributes, want) {
		a.t.Errorf("%s: the attributes are %v, want %v", when, u.Attributes, want)
	}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(shown\.[a-z]+)" value="([0-9a-f]+)">`)

// form returns what the form of the page is sent with: the shown texts of attributes, and pairs.
func (a *attributed) form(pairs ...string) []string {
	a.t.Helper()
	found := hiddenField.FindAllStringSubmatch(a.do(get(profile.Path, a.here)).body, -1)
	if len(found) != 2 {
		a.t.Fatalf("the page says of %d attributes what it shows", len(found))
	}
	for _, m := range found {
		pairs = append(pairs, m[1], m[2])
	}
	return pairs
}

func TestUserSeesAndChangesTheListedAttributesAlone(t *testing.T) {
	a := newAttributed(t, map[string]string{"desk": `4b "window"`, "badge": "b-17"})
	body := a.do(get(profile.Path, a.here)).body
	for _, want := range []string{
		`<legend>Attributes</legend>`,
		`<label for="attribute.desk"><code>desk</code></label>`,
		`<input id="attribute.desk" name="attribute.desk" type="text" value="4b &#34;window&#34;" maxlength="1024" ` +
			`autocomplete="off" aria-describedby="attributes-hint">`,
		`<label for="attribute.pronouns"><code>pronouns</code></label>`,
		`name="attribute.pronouns" type="text" value=""`,
		`<p class="hint" id="attributes-hint">The operator has named these, and applications may be told them. Leave one ` +
			`empty to have none.</p>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s: %s", want, body)
		}
	}
	if strings.Contains(body, "badge") || strings.Contains(body, "b-17") {
		t.Errorf("the page shows what is not listed: %s", body)
	}
	saved := a.edits(a.here, a.form("attribute.desk", " 5c ", "attribute.pronouns", "她 ❤️", "attribute.badge", "b-1",
		"badge", "b-1", "attribute.dept", "board")...)
	if saved.Code != 303 || saved.Header().Get("Location") != profile.Path+"?saved=1" {
		t.Fatalf("saving = %d %s", saved.Code, saved.body)
	}
	a.has("after saving", map[string]string{"desk": "5c", "pronouns": "她 ❤️", "badge": "b-17"})
	if got := a.edits(a.here, a.form("attribute.desk", "", "attribute.pronouns", "她 ❤️")...); got.Code != 303 {
		t.Errorf("emptying = %d %s", got.Code, got.body)
	}
	a.has("after emptying", map[string]string{"pronouns": "她 ❤️", "badge": "b-17"})
	if want := []string{
		"account  profile changed: name nickname picture gender location attribute:desk attribute:pronouns",
		"account  profile changed: attribute:desk",
	}; !slices.Equal(a.audit.notes, want) {
		t.Errorf("the trail says %q, want %q", a.audit.notes, want)
	}
}

func TestAttributesOfTheProfileAreToldInChinese(t *testing.T) {
	a := newAttributed(t, nil)
	for _, want := range []string{"<legend>属性</legend>", "这些属性由运营者列出，应用可能会获知。留空则没有该属性。"} {
		if body := a.do(get(profile.Path+"?ui_locales=zh-CN", a.here)).body; !strings.Contains(body, want) {
			t.Errorf("the page lacks %s: %s", want, body)
		}
	}
	chinese := func(pairs ...string) answer {
		r := sends(profile.Path, append([]string{"cookie", a.here}, pairs...)...)
		r.Header.Set("Accept-Language", "zh-CN")
		return a.do(r)
	}
	if got := chinese("attribute.desk", "a\tb"); got.Code != 400 || !strings.Contains(got.body, "属性为一行可见字符") {
		t.Errorf("a tab = %d %s", got.Code, got.body)
	}
	stale := a.form("attribute.desk", "5c")
	a.set(map[string]string{"desk": "6d"})
	if got := chinese(stale...); got.Code != 409 || !strings.Contains(got.body, "未保存：其间有人更改了属性。") {
		t.Errorf("a stale form = %d %s", got.Code, got.body)
	}
}

func TestNobodyChangesAttributesOfTheirsUnlessTheyAreListed(t *testing.T) {
	a := newAttributed(t, map[string]string{"desk": "4b"})
	unlisted := newAccountFixture(t)
	here := unlisted.enterMina()
	if body := unlisted.do(get(profile.Path, here)).body; strings.Contains(body, "attribute") {
		t.Errorf("the page shows attributes: %s", body)
	}
	if got := unlisted.edits(here, "attribute.desk", "5c", "desk", "5c"); got.Code != 303 {
		t.Errorf("saving = %d", got.Code)
	}
	if u, err := unlisted.store.User(t.Context(), unlisted.mina.Sub); err != nil || len(u.Attributes) != 0 {
		t.Errorf("stored are %v, %v", u.Attributes, err)
	}
	_, theirs := a.ada()
	if got := a.edits(theirs, "attribute.desk", "5c"); got.Code != 303 {
		t.Errorf("somebody else = %d", got.Code)
	}
	a.has("after somebody else's change", map[string]string{"desk": "4b"})
	if got := a.do(sends(profile.Path, "attribute.desk", "5c")); got.Code != 303 ||
		got.Header().Get("Location") != profile.Path {
		t.Errorf("a stranger = %d", got.Code)
	}
	a.has("after a stranger's", map[string]string{"desk": "4b"})
}

func TestAttributeThatIsInvalidIsRefusedAndNothingIsStored(t *testing.T) {
	full := map[string]string{}
	for i := range claim.MaxAttributes {
		full[fmt.Sprint("a", i)] = "x"
	}
	a := newAttributed(t, full)
	before := a.profile()
	for _, x := range []struct{ text, want string }{
		{strings.Repeat("x", claim.MaxAttribute+1), "one line of visible characters: 1,024"},
		{strings.Repeat("桌", 342), "one line of visible characters: 1,024"},
		{"a\nb", "one line of visible characters"}, {"a\x00b", "one line of visible characters"},
		{"4\u202eb", "one line of visible characters"}, {"\xff", ""},
		{"5c", "a user has at most 32 attributes"},
	} {
		a.steps.Rates = limits.NewRates(nil)
		got := a.edits(a.here, a.form("attribute.desk", x.text)...)
		if got.Code != 400 || !strings.Contains(got.body, `role="alert"`) || !strings.Contains(got.body, x.want) {
			t.Errorf("%.20q = %d %s", x.text, got.Code, got.body)
		}
		if marked := strings.Contains(got.body,
			`aria-describedby="alert attributes-hint" aria-invalid="true"`); marked != (strings.HasPrefix(x.want, "one line")) {
			t.Errorf("%.20q: the field is marked: %t", x.text, marked)
		}
	}
	a.has("after refusals", full)
	if got := a.profile(); got != before || len(a.audit.notes) != 0 {
		t.Errorf("stored is %+v, and the trail says %q", got, a.audit.notes)
	}
	delete(full, "a0")
	a.set(full)
	a.steps.Rates = limits.NewRates(nil)
	longest := strings.Repeat("x", claim.MaxAttribute)
	if got := a.edits(a.here, a.form("attribute.desk", longest)...); got.Code != 303 {
		t.Errorf("the longest text in the last place = %d %s", got.Code, got.body)
	}
	full["desk"] = longest
	a.has("with the longest text", full)
}

// An administrator may set what nobody could type.
func TestAttributeThatIsLeftAloneStaysAsItIs(t *testing.T) {
	was := map[string]string{"desk": " 4b\nby the\u202e window ", "pronouns": "she"}
	a := newAttributed(t, was)
	if body := a.do(get(profile.Path, a.here)).body; !strings.Contains(body, "value=\"4bby the\u202e window\"") {
		t.Errorf("the page: %s", body)
	}
	for what, pairs := range map[string][]string{
		"sent back": a.form("attribute.desk", "4bby the\u202e window", "attribute.pronouns", "she"),
		"sent back to what does not say what it was shown with": {"attribute.desk", "4bby the\u202e window"},
		"a form of before attributes were listed":               nil,
	} {
		if got := a.edits(a.here, pairs...); got.Code != 303 {
			t.Errorf("%s = %d %s", what, got.Code, got.body)
		}
		a.has(what, was)
	}
}

func TestAttributeThatAnAdministratorChangesMeanwhileIsNotOverwritten(t *testing.T) {
	a := newAttributed(t, map[string]string{"desk": "4b", "pronouns": "she"})
	old := func(pairs ...string) []string {
		return a.form(append([]string{"attribute.desk", "4b", "attribute.pronouns", "she"}, pairs...)...)
	}
	untouched := old()
	now := map[string]string{"desk": "6d", "pronouns": "she", "badge": "b-17"}
	changed := old()
	changed[1], changed[3] = "5c", "they"
	a.set(now)
	if got := a.edits(a.here, untouched...); got.Code != 303 {
		t.Errorf("another field alone = %d %s", got.Code, got.body)
	}
	a.has("after another field", now)
	before := a.profile()
	got := a.edits(a.here, append(changed, "nickname", "Late")...)
	if got.Code != 409 || !strings.Contains(got.body, "somebody else has changed an attribute meanwhile") ||
		!strings.Contains(got.body, `value="6d"`) || !strings.Contains(got.body, `value="they"`) ||
		!strings.Contains(got.body, `value="Late"`) || strings.Count(got.body, `aria-invalid="true"`) != 1 {
		t.Errorf("a stale form = %d %s", got.Code, got.body)
	}
	a.has("after the stale form", now)
	if a.profile() != before {
		t.Errorf("stored is %+v", a.profile())
	}
	again := []string{"attribute.desk", "5c"}
	for _, m := range hiddenField.FindAllStringSubmatch(got.body, -1) {
		again = append(again, m[1], m[2])
	}
	if got := a.edits(a.here, again...); got.Code != 303 {
		t.Errorf("the form that is answered with = %d %s", got.Code, got.body)
	}
	a.has("after it", map[string]string{"desk": "5c", "pronouns": "she", "badge": "b-17"})
}

// overtaking changes the attributes of a user between the read and the write of somebody else.
type overtaking struct {
	users.Store
	store *storage.Store
	to    map[string]string // nil: it has been done
}

func (o *overtaking) SaveUser(ctx context.Context, u storage.User) (storage.User, error) {
	if to := o.to; to != nil {
		o.to = nil
		if err := setAttributes(ctx, o.store, u.Sub, to); err != nil {
			return u, err
		}
	}
	return o.Store.SaveUser(ctx, u)
}

func TestAttributesThatChangeBetweenReadAndWriteStay(t *testing.T) {
	a := newAttributed(t, map[string]string{"desk": "4b"})
	table := &overtaking{Store: a.store, store: a.store.Store}
	all := users.New(table, cheap(a.hashes))
	change := []users.AttributeChange{{Name: "desk", Was: "4b", Is: "5c"}}

	table.to = map[string]string{"desk": "4b", "badge": "b-17"}
	before, err := all.SetProfileWith(t.Context(), a.mina.Sub, users.Profile{Name: "New"}, change)
	must(t, err)
	a.has("another attribute", map[string]string{"desk": "5c", "badge": "b-17"})
	if before.Nickname != "Mina Okafor" || a.profile() != (users.Profile{Name: "New"}) {
		t.Errorf("before it was %+v, stored is %+v", before, a.profile())
	}

	change[0].Was, change[0].Is = "5c", ""
	table.to = map[string]string{"desk": "6d"}
	if _, err := all.SetProfileWith(t.Context(), a.mina.Sub, users.Profile{}, change); !errors.Is(err,
		users.ErrAttributeChanged) {
		t.Errorf("the same attribute: %v", err)
	}
	a.has("the same attribute", map[string]string{"desk": "6d"})
	if a.profile().Name != "New" {
		t.Errorf("stored is %+v", a.profile())
	}
}

func TestPageSaysThatAnAttributeHasChangedAtTheLastMoment(t *testing.T) {
	var table *overtaking
	a := newAttributed(t, map[string]string{"desk": "4b"}, func(c *Config) {
		table = &overtaking{Store: c.Store, store: c.Store.(*flaky).Store}
		c.Users = users.New(table, c.Passwords).Host()
	})
	form := a.form("attribute.desk", "5c", "attribute.pronouns", "she")
	table.to = map[string]string{"desk": "6d"}
	if got := a.edits(a.here, form...); got.Code != 409 || !strings.Contains(got.body, `value="6d"`) ||
		!strings.Contains(got.body, `value="she"`) || len(a.audit.notes) != 0 {
		t.Errorf("%d, the trail says %q: %s", got.Code, a.audit.notes, got.body)
	}
	a.has("after it", map[string]string{"desk": "6d"})
}

func TestListOfAttributesIsCheckedAtTheStart(t *testing.T) {
	store := newFixture(t, nil).store
	host := users.New(store, nil).Host()
	without := host
	without.Attributes = nil
	for what, x := range map[string]struct {
		c    Config
		want string
	}{
		"none":                         {Config{}, ""},
		"two":                          {Config{ProfileAttributes: []string{"desk", "pronouns"}}, ""},
		"two of a host":                {Config{ProfileAttributes: []string{"desk", "pronouns"}, Users: host}, ""},
		"a host that changes none":     {Config{ProfileAttributes: []string{"desk"}, Users: without}, "give Attributes"},
		"a host of which none is said": {Config{Users: without}, ""},
		"no name":                      {Config{ProfileAttributes: []string{"Desk"}}, `"Desk" is no name of an attribute`},
		"one twice":                    {Config{ProfileAttributes: []string{"desk", "a", "desk"}}, `"desk" is there twice`},
	} {
		x.c.BaseURL, x.c.Store = origin, store
		made, err := New(t.Context(), x.c)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", what, err, x.want)
		}
		if err == nil {
			must(t, made.Close(t.Context()))
		}
	}
}
