package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
)

// found is a directory with people and applications.
type found struct {
	*testing.T
	store  *storage.Store
	finder *Finder
	admin  admin.Actor
}

func newFound(t *testing.T) *found {
	store, err := storage.Open(t.Context(), backend.New(t), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return &found{t, store, NewFinder(store), admin.Actor{User: storage.User{Sub: "uroot", Role: storage.RoleAdmin}}}
}

// user makes a user who signs in by a method.
func (f *found) user(method string, u storage.User) storage.User {
	f.Helper()
	u, err := f.store.CreateUser(f.Context(), u,
		storage.Login{Method: method, Subject: strings.ToLower(u.Username)})
	if err != nil {
		f.Fatal(err)
	}
	return u
}

func (f *found) app(name, owner string) storage.App {
	f.Helper()
	a, err := f.store.SaveApp(f.Context(), storage.App{Name: name, Owner: owner, Domains: []string{"a.example.com"}})
	if err != nil {
		f.Fatal(err)
	}
	return a
}

// userFor returns whom a text means to an actor, or the status and the text of the error.
func (f *found) userFor(who admin.Actor, text string) string {
	u, err := f.finder.User(f.Context(), who, "owner", text)
	return f.said(u.Sub, err)
}

func (f *found) appFor(who admin.Actor, text string) string {
	a, err := f.finder.App(f.Context(), who, "client_id", text)
	return f.said(a.ID, err)
}

func (f *found) said(id string, err error) string {
	f.Helper()
	if err == nil {
		return id
	}
	m := (*Mistyped)(nil)
	if !errors.As(err, &m) || !strings.HasPrefix(m.Msg, m.Field+": ") || reply.FailureOf(err) != m.Failure {
		f.Fatalf("%v is no error of a field", err)
	}
	return fmt.Sprintf("%d %s", m.Status, m.Msg)
}

func TestFinderTakesEachNameThatAUserHas(t *testing.T) {
	f := newFound(t)
	ann := f.user(storage.LoginSelf, storage.User{Username: "Ann", Nickname: "Annie", Name: "Ann Lee",
		Email: "ann@example.com", EmailVerified: true})
	met := f.user("wx", storage.User{Username: "wx_oika4j54b7", Nickname: "小明", Email: "ming@example.com"})
	for text, want := range map[string]string{
		ann.Sub: ann.Sub, "ann": ann.Sub, " ANN ": ann.Sub, "annie": ann.Sub, "Ann  Lee": "404", "ann lee": ann.Sub,
		"ann@example.com": ann.Sub, "ming@example.com": "404", "wx_oika4j54b7": met.Sub, "WX_OIKA4J54B7": met.Sub,
		"小明": met.Sub, "an": "404", "": "404", "u" + strings.Repeat("a", 26): "404", strings.Repeat("x", 501): "404",
		"a\x00b": "404", "ａｎｎ": ann.Sub,
	} {
		if got := f.userFor(f.admin, text); got != want && (want != "404" || !strings.HasPrefix(got, "404 owner: no user")) {
			t.Errorf("%q means %s, want %s", text, got, want)
		}
	}
}

func TestFinderListsThoseWhoHaveOneNameInCommon(t *testing.T) {
	f := newFound(t)
	a := f.user(storage.LoginSelf, storage.User{Username: "a1", Nickname: "Sam"})
	b := f.user(storage.LoginSelf, storage.User{Username: "b2", Nickname: "sam"})
	got := f.userFor(f.admin, "Sam")
	if !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "a1 ("+a.Sub+")") ||
		!strings.Contains(got, "b2 ("+b.Sub+")") {
		t.Errorf("%s", got)
	}
	sam := f.user(storage.LoginSelf, storage.User{Username: "sam"})
	if got := f.userFor(f.admin, "Sam"); got != sam.Sub {
		t.Errorf("a nickname stands in the way of a username: %s", got)
	}
	for range 12 {
		f.app("Shop", "u1")
	}
	got = f.appFor(f.admin, "shop")
	if !strings.HasPrefix(got, "400 ") || strings.Count(got, "Shop (ks") != maxAlike || !strings.HasSuffix(got, ", …") {
		t.Errorf("%s", got)
	}
}

// A username begins the nickname of its user, under which it is listed behind hundreds that begin the same.
func TestFinderIsNotBlindedByThoseWhoBeginTheSame(t *testing.T) {
	f := newFound(t)
	boss := f.user(storage.LoginSelf, storage.User{Username: "boss", Nickname: "bosszz"})
	f.user("wx", storage.User{Username: "wx_first", Nickname: "bos"})
	quinn := f.user("wx", storage.User{Username: "wx_quinn", Nickname: "quinn", Name: "quinnzz"})
	for i := range readAtMost*readAtOnce + 1 {
		f.user("wx", storage.User{Username: fmt.Sprintf("wx_%d", i), Nickname: "boss" + strings.Repeat("a", i%30+1)})
	}
	for i := range readAtOnce + 1 {
		f.user("wx", storage.User{Username: fmt.Sprintf("qq_%d", i), Nickname: fmt.Sprintf("quinna%d", i)})
	}
	for text, want := range map[string]string{"boss": boss.Sub, "quinn": quinn.Sub, "bosszz": boss.Sub,
		"bos": "400", "bossa": "400"} { // the last two: another one may be behind what is read
		if got := f.userFor(f.admin, text); !strings.HasPrefix(got, want) {
			t.Errorf("%s means %s, want %s", text, got, want)
		}
	}
}

func TestFinderTakesNobodyByTheIdOfAnother(t *testing.T) {
	f := newFound(t)
	ann := f.user(storage.LoginSelf, storage.User{Username: "ann"})
	shop := f.app("Shop", ann.Sub)
	gone := "ks" + strings.Repeat("a", 20)
	f.app(gone, "uevil")
	f.app(shop.ID, "uevil")
	f.user("wx", storage.User{Username: "evil", Nickname: ann.Sub})
	f.user("wx", storage.User{Username: "evil2", Nickname: "u" + strings.Repeat("b", 26)})
	for text, want := range map[string]string{shop.ID: shop.ID, gone: "404"} {
		if got := f.appFor(f.admin, text); !strings.HasPrefix(got, want) {
			t.Errorf("%s means %s", text, got)
		}
	}
	for text, want := range map[string]string{ann.Sub: ann.Sub, "u" + strings.Repeat("b", 26): "404"} {
		if got := f.userFor(f.admin, text); !strings.HasPrefix(got, want) {
			t.Errorf("%s means %s", text, got)
		}
	}
}

// A developer learns of others neither a name nor an application, and finds their own.
func TestFinderTellsDevelopersNothingOfOthers(t *testing.T) {
	f := newFound(t)
	ann := f.user(storage.LoginSelf, storage.User{Username: "ann", Nickname: "Annie", Email: "ann@example.com",
		EmailVerified: true})
	dev := admin.Actor{User: storage.User{Sub: "udev", Role: storage.RoleDeveloper}}
	hers, own := f.app("Shop", ann.Sub), f.app("shop", dev.Sub)
	for _, text := range []string{"Annie", "ann@example.com"} {
		if got := f.userFor(dev, text); !strings.HasPrefix(got, "404") {
			t.Errorf("%s tells %s", text, got)
		}
	}
	if f.userFor(dev, "ann") != ann.Sub || f.userFor(dev, ann.Sub) != ann.Sub {
		t.Error("a developer names nobody")
	}
	if got := f.appFor(dev, "SHOP"); got != own.ID {
		t.Errorf("%s", got)
	}
	if got := f.appFor(dev, hers.ID); !strings.HasPrefix(got, "404") {
		t.Errorf("%s", got)
	}
	if got := f.appFor(admin.Actor{}, "Shop"); !strings.HasPrefix(got, "404") {
		t.Errorf("somebody without a name is shown %s", got)
	}
	auditor := admin.Actor{User: storage.User{Sub: "uaudit", Role: storage.RoleAuditor}}
	if got := f.appFor(auditor, "shop"); !strings.HasPrefix(got, "400") {
		t.Errorf("%s", got)
	}
}

// An application or a user that is gone has left records, which are found by its id.
func TestFinderTakesTheIdOfWhatIsGoneForAList(t *testing.T) {
	f := newFound(t)
	for text, want := range map[string]string{"ks" + strings.Repeat("a", 20): "200", "gone": "404", "": "404"} {
		id, err := f.finder.AppID(t.Context(), f.admin, "client_id", text)
		if (err == nil) != (want == "200") || err == nil && id != text || err != nil && !FindsNone(err) {
			t.Errorf("%q is %q, %v", text, id, err)
		}
	}
	for text, want := range map[string]string{"u" + strings.Repeat("a", 26): "200", "gone": "404"} {
		id, err := f.finder.Sub(t.Context(), f.admin, "user", text)
		if (err == nil) != (want == "200") || err == nil && id != text {
			t.Errorf("%q is %q, %v", text, id, err)
		}
	}
}

func TestErrorCallsItsFieldAsTheFormDoes(t *testing.T) {
	english := &View{Lang: page.English, texts: []Texts{FrameTexts()}, problems: problemsOf(FrameTexts())}
	chinese := Problems(FrameTexts())
	for msg, want := range map[string][2]string{
		"redirect_uris: \"x\": http is allowed for loopback hosts only; use https": {
			"Redirect URIs: \"x\": http is allowed for loopback hosts only; use https",
			"重定向地址 \"x\"：http 仅允许用于本机地址；请使用 https"},
		"name: give the application a name of 1 to 200 bytes; domains, redirect_uris: at most 50 of each": {
			"Name: give the application a name of 1 to 200 bytes; Domains, redirect_uris: at most 50 of each",
			"名称：请为应用填写 1 到 200 字节的名称；域名和重定向地址各最多 50 个"},
		"days is a number from 1 to 90": {"Days is a number from 1 to 90", "天数须为 1 到 90"},
		`owner: no user is called "a; b: \"c"`: {`Owner: no user is called "a; b: \"c"`,
			`owner：没有名为 "a; b: \"c" 的用户`},
		"":                {"", ""},
		"nothing we know": {"nothing we know", "nothing we know"},
		"%s %d %q":        {"%s %d %q", "%s %d %q"},
	} {
		if got := english.Says(msg); got != want[0] {
			t.Errorf("in English: %q", got)
		}
		if got := chinese(msg); strings.Replace(got, "Owner", "owner", 1) != want[1] {
			t.Errorf("in Chinese: %q, want %q", got, want[1])
		}
	}
}
