package fake_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
)

// The whole sign-in at each provider, as each test user, twice.
func TestTestUserSignsInWithEachProvider(t *testing.T) {
	h := newFixture(t)
	for _, name := range names {
		for person, unions := range map[string][2]bool{"lin": {true, true}, "omar": {false, false}, "mei": {false, true},
			"robert": {true, true}} {
			var first connector.Profile
			for visit, union := range unions {
				query := h.choose(name, person)
				if query.Get("state") != state {
					t.Errorf("%s: state came back as %q", name, query.Get("state"))
				}
				union = union && name != "wecom" // it has the ids of one corporation alone
				p, err := h.finish(name, query)
				if err != nil {
					t.Errorf("%s as %s: %v", name, person, err)
					continue
				}
				if name == "oidc" || name == "github" { // which have one identity for all applications
					if len(p.Subjects) != 1 || visit == 1 && p.Subjects[0] != first.Subjects[0] {
						t.Errorf("%s as %s: subjects %q after %q", name, person, p.Subjects, first.Subjects)
					}
					if person == "omar" && p.Nickname != "Omar Haddad" || person == "lin" && !strings.HasPrefix(p.Avatar, origin+"/") {
						t.Errorf("%s as %s: %+v", name, person, p)
					}
					first = p
					continue
				}
				if has := strings.HasPrefix(p.Subjects[0], "u:"); has != union {
					t.Errorf("%s as %s, visit %d: subjects %q, want a unionid: %t", name, person, visit+1, p.Subjects, union)
				}
				open := p.Subjects[len(p.Subjects)-1]
				if !strings.HasPrefix(open, "o:") || visit == 1 && open != first.Subjects[len(first.Subjects)-1] {
					t.Errorf("%s as %s: subjects %q after %q: the account forks", name, person, p.Subjects, first.Subjects)
				}
				if person == "robert" && p.Nickname != "<b>Robert</b> 🦊" {
					t.Errorf("%s: nickname %q", name, p.Nickname)
				}
				if (name == "wx" || name == "qq") && person == "lin" && (p.Gender != "female" ||
					!strings.Contains(p.Location, "上海") || !strings.HasPrefix(p.Avatar, origin+"/")) {
					t.Errorf("%s as lin: %+v", name, p)
				}
				first = p
			}
		}
	}
}

// Another fake, after a restart, has the same test users.
func TestTestUsersSurviveARestart(t *testing.T) {
	a, b := newFixture(t), newFixture(t)
	for _, name := range names {
		before, err := a.finish(name, a.choose(name, "lin"))
		must(t, err)
		after, err := b.finish(name, b.choose(name, "lin"))
		must(t, err)
		if !slices.Equal(before.Subjects, after.Subjects) {
			t.Errorf("%s: %q, then %q", name, before.Subjects, after.Subjects)
		}
	}
}

func TestDenialComesBackWithoutACode(t *testing.T) {
	h := newFixture(t)
	for _, name := range names {
		query := h.choose(name, "nobody")
		if query.Has("code") || query.Has("auth_code") || query.Has("authCode") || query.Get("state") != state {
			t.Errorf("%s: came back with %v", name, query)
		}
		if _, err := h.finish(name, query); !errors.Is(err, connector.ErrDenied) {
			t.Errorf("%s: Finish = %v, want ErrDenied", name, err)
		}
	}
}

func TestCodeWorksOnceAndForFiveMinutes(t *testing.T) {
	f, err := one()
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		h := newFixtureOf(t, f)
		for i, name := range names {
			query := h.choose(name, "lin")
			late := h.choose(name, "lin")
			if _, err := h.finish(name, query); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := h.finish(name, query); !errors.Is(err, connector.ErrCode) {
				t.Errorf("%s: a used code = %v, want ErrCode", name, err)
			}
			code := late.Get("code") + late.Get("auth_code") + late.Get("authCode")
			if _, err := h.finish(names[(i+1)%len(names)], url.Values{"code": {code}, "auth_code": {code}, "state": {state},
				"iss": {origin + fake.Path + "/oidc"}}); !errors.Is(err, connector.ErrCode) {
				t.Errorf("%s: its code at the next provider = %v, want ErrCode", name, err)
			}
			if _, err := h.finish(name, url.Values{"code": {"made-up"}, "auth_code": {"made-up"}, "state": {state},
				"iss": {origin + fake.Path + "/oidc"}}); !errors.Is(err, connector.ErrCode) {
				t.Errorf("%s: a made-up code = %v, want ErrCode", name, err)
			}
			time.Sleep(5 * time.Minute)
			if _, err := h.finish(name, late); !errors.Is(err, connector.ErrCode) {
				t.Errorf("%s: an old code = %v, want ErrCode", name, err)
			}
		}
	})
}

func TestQQComparesTheReturnAddress(t *testing.T) {
	h := newFixture(t)
	_, err := h.connectors["qq"].Finish(t.Context(), back+"&more", h.choose("qq", "lin"))
	if trouble := new(connector.Trouble); !errors.As(err, &trouble) || trouble.Code != "100010" {
		t.Errorf("Finish with another return address = %v, want 100010", err)
	}
}

// A wrong secret, or a key that is not the one the fake knows, is trouble for the operator.
func TestFakeProviderServesOnlyItsOwnApplications(t *testing.T) {
	h, other := newFixture(t), newFixture(t)
	for _, name := range names {
		query := h.choose(name, "lin")
		unknown := &http.Client{Transport: h}
		c := other.Configs()
		var made connector.Connector
		var err error
		switch name {
		case "wx":
			c.WX.Client = unknown
			made, err = connector.NewWX(c.WX)
		case "qq":
			c.QQ.Client = unknown
			made, err = connector.NewQQ(c.QQ)
		case "alipay":
			c.Alipay.Client = unknown
			made, err = connector.NewAlipay(c.Alipay)
		case "douyin":
			c.Douyin.Client = unknown
			made, err = connector.NewDouyin(c.Douyin)
		case "feishu":
			c.Feishu.Client = unknown
			made, err = connector.NewFeishu(c.Feishu)
		case "wecom":
			c.WeCom.Client = unknown
			made, err = connector.NewWeCom(c.WeCom)
		case "dingtalk":
			c.DingTalk.Client = unknown
			made, err = connector.NewDingTalk(c.DingTalk)
		case "oidc":
			c.OIDC.Client = unknown
			made, err = oidc.New(c.OIDC)
		case "github":
			c.GitHub.Client = unknown
			made, err = connector.NewGitHub(c.GitHub)
		}
		must(t, err)
		_, err = made.Finish(t.Context(), back, query)
		if trouble := new(connector.Trouble); !errors.As(err, &trouble) || !strings.Contains(err.Error(), "wrong") &&
			!strings.Contains(err.Error(), "does not fit") || strings.Contains(err.Error(),
			query.Get("auth_code")+query.Get("authCode")+query.Get("code")) {
			t.Errorf("%s: Finish with the keys of another = %v, want a Trouble that says so", name, err)
		}
		if _, err := h.finish(name, query); err != nil {
			t.Errorf("%s: the code is spent by it: %v", name, err)
		}
	}
}

func TestStrangerIsNoMember(t *testing.T) {
	h := newFixture(t)
	if p, err := h.finish("wecom", h.choose("wecom", "zhou")); !errors.Is(err, connector.ErrStranger) ||
		p.Subjects != nil {
		t.Errorf("Finish = %v, %v, want ErrStranger", p, err)
	}
}

// A code that was stolen on its way serves nobody in whose browser another visit was begun.
func TestFeishuVerifiesTheVisit(t *testing.T) {
	h := newFixture(t)
	query := h.choose("feishu", "lin")
	other := url.Values{"code": query["code"], "state": {"fedcba9876543210fedcba9876543210"}}
	if _, err := h.finish("feishu", other); !errors.Is(err, connector.ErrCode) {
		t.Errorf("Finish with another state = %v, want ErrCode", err)
	}
	if _, err := h.connectors["feishu"].Finish(t.Context(), back+"&more", query); !errors.As(err,
		new(*connector.Trouble)) {
		t.Errorf("Finish with another return address = %v, want a Trouble", err)
	}
	if _, err := h.finish("feishu", query); err != nil {
		t.Errorf("Finish = %v", err)
	}
}

// The page inside the app gives codes of the same kind.
func TestWeComsPageInTheAppSignsIn(t *testing.T) {
	h := newFixture(t)
	h.connectors["wecom"] = inApp{h.connectors["wecom"]}
	p, err := h.finish("wecom", h.choose("wecom", "omar"))
	if err != nil || len(p.Subjects) != 1 || !strings.HasSuffix(p.Subjects[0], ":omar") || p.Nickname != "Omar Haddad" {
		t.Errorf("Finish = %+v, %v", p, err)
	}
}

// inApp begins as in a browser inside the app.
type inApp struct{ connector.Connector }

func (c inApp) Begin(ctx context.Context, v connector.Visit) (string, error) {
	v.UserAgent = "Mozilla/5.0 (Linux; Android 14) Mobile wxwork/4.1.30"
	return c.Connector.Begin(ctx, v)
}
