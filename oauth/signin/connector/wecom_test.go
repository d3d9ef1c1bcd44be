package connector

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// pkceVerifier is the verifier of the state of the tests. It is written down, because nodes of two versions must
// agree on it.
const pkceVerifier = "8K4PMKy7A0tfqR6l1G5SbUgTYbOUKSvI4nhqvHFf-rc"

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// corpTokens is a wecom whose access tokens of the application are numbered; it accepts only the
// newest.
type corpTokens struct {
	mu      sync.Mutex
	issued  int
	life    int           // seconds
	slow    time.Duration // of each request for a token
	refusal string        // of a request for a token
	old     string        // the error code for a token that is not the newest
}

func (c *corpTokens) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"errcode":0,"errmsg":"ok","userid":"ada","name":"Ada"}`
	if r.URL.Path == wecomTokenPath {
		select {
		case <-time.After(c.slow):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		c.mu.Lock()
		c.issued++
		body = fmt.Sprintf(`{"errcode":0,"errmsg":"ok","access_token":"corp-token-%d","expires_in":%d}`, c.issued, c.life)
		if c.refusal != "" {
			body = c.refusal
		}
		c.mu.Unlock()
	} else {
		c.mu.Lock()
		if r.URL.Query().Get("access_token") != fmt.Sprintf("corp-token-%d", c.issued) {
			body = `{"errcode":` + c.old + `,"errmsg":"access_token is not the newest"}`
		}
		c.mu.Unlock()
	}
	s := &cannedProvider{answers: map[string][]cannedResponse{r.URL.Path: {ok(body)}}}
	return s.RoundTrip(r)
}

func finishAs(ctx context.Context, c Connector) error {
	_, err := c.Finish(ctx, back, returned("wecom"))
	return err
}

func TestTokenOfWeComIsFetchedOnceForManyMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &corpTokens{life: 7200, slow: time.Second}
		c := connect(t, "wecom", &http.Client{Transport: s})
		leaver, leave := context.WithCancel(t.Context())
		errs := make(chan error, 51)
		go func() { errs <- finishAs(leaver, c) }() // asks first, and goes away
		synctest.Wait()
		for range 50 {
			go func() { errs <- finishAs(t.Context(), c) }()
		}
		synctest.Wait()
		leave()
		gone := 0
		for range 51 {
			if err := <-errs; errors.Is(err, context.Canceled) {
				gone++
			} else if err != nil {
				t.Error(err)
			}
		}
		if s.issued != 1 || gone != 1 {
			t.Errorf("%d tokens for 51 members, and %d of them have left, want 1 and 1", s.issued, gone)
		}
		time.Sleep(2*time.Hour - tokenSlack - 2*time.Second)
		if err := finishAs(t.Context(), c); err != nil || s.issued != 1 {
			t.Errorf("before its end: %v, %d tokens", err, s.issued)
		}
		time.Sleep(2 * time.Second)
		if err := finishAs(t.Context(), c); err != nil || s.issued != 2 {
			t.Errorf("five minutes before its end: %v, %d tokens, want 2", err, s.issued)
		}
	})
}

func TestWithdrawnTokenIsRenewedOnce(t *testing.T) {
	for _, old := range []string{"40014", "42001"} {
		s := &corpTokens{life: 7200, old: old}
		c := connect(t, "wecom", &http.Client{Transport: s})
		if err := finishAs(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		s.issued++ // somebody else has asked for one
		if err := finishAs(t.Context(), c); err != nil || s.issued != 3 {
			t.Errorf("%s: %v, %d tokens, want 3", old, err, s.issued)
		}
	}
	s := &cannedProvider{answers: good("wecom")}
	s.answers[wecomWhoPath] = []cannedResponse{ok(`{"errcode":42001,"errmsg":"access_token expired"}`)}
	wantTrouble(t, connect(t, "wecom", &http.Client{Transport: s}), "42001")
	if len(s.requests) != 4 {
		t.Errorf("%d requests, want a token and the code, twice", len(s.requests))
	}
	s = &cannedProvider{answers: good("wecom")}
	s.answers[wecomWhoPath] = []cannedResponse{ok(`{"errcode":60020,"errmsg":"not allow to access from your ip"}`)}
	wantTrouble(t, connect(t, "wecom", &http.Client{Transport: s}), "60020")
	if len(s.requests) != 2 {
		t.Errorf("%d requests, want no second token for another error", len(s.requests))
	}
}

// A token that was not to be had is asked for again by the next member, and all who waited are told
// why.
func TestFailedTokenIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &corpTokens{life: 7200, slow: time.Second, refusal: `{"errcode":40001,"errmsg":"invalid credential: ` + secret + `"}`}
		c := connect(t, "wecom", &http.Client{Transport: s})
		errs := make(chan error)
		for range 3 {
			go func() { errs <- finishAs(t.Context(), c) }()
		}
		for range 3 {
			err := <-errs
			if trouble := new(Trouble); !errors.As(err, &trouble) || trouble.Code != "40001" ||
				strings.Contains(err.Error(), secret) {
				t.Errorf("Finish = %v, want a Trouble without the secret", err)
			}
		}
		if s.issued != 1 {
			t.Errorf("%d requests for three members, want 1", s.issued)
		}
		s.refusal = ""
		if err := finishAs(t.Context(), c); err != nil {
			t.Errorf("after the Secret was corrected: %v", err)
		}
	})
}

func TestWeComSignsInMembersOnly(t *testing.T) {
	for _, body := range []string{
		`{"errcode":0,"errmsg":"ok","openid":"oAAAAAAA"}`, `{"errcode":0,"errmsg":"ok","openid":"oAAAAAAA","external_userid":"wmAAAA"}`,
		`{"errcode":60011,"errmsg":"no privilege to access/modify contact/party/agent"}`,
	} {
		answers := good("wecom")
		answers[wecomWhoPath] = []cannedResponse{ok(body)}
		c, s := scripted(t, "wecom", answers)
		p, err := c.Finish(t.Context(), back, returned("wecom"))
		if !errors.Is(err, ErrStranger) || p.Subjects != nil || len(s.requests) != 2 {
			t.Errorf("%s: %v, %v after %d requests, want ErrStranger", body, p, err, len(s.requests))
		}
	}
}

// The same user id in two corporations is two people.
func TestMembersOfTwoCorporationsNeverCollide(t *testing.T) {
	seen := map[string]string{}
	for _, corp := range []string{"wwaaaaaaaaaaaaaaaa", "wwbbbbbbbbbbbbbbbb"} {
		c, err := NewWeCom(WeCom{CorpID: corp, AgentID: "1", Secret: storage.NewSecret(secret),
			Client: &http.Client{Transport: &cannedProvider{answers: good("wecom")}}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Finish(t.Context(), back, returned("wecom"))
		if err != nil || len(p.Subjects) != 1 || seen[p.Subjects[0]] != "" {
			t.Errorf("%s: %v, %v beside %v", corp, p.Subjects, err, seen)
			continue
		}
		seen[p.Subjects[0]] = corp
	}
}

func TestInsideWeComItsOwnPageOpens(t *testing.T) {
	c := connect(t, "wecom", nil)
	const phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
		"Mobile/15E148 wxwork/4.1.22 MicroMessenger/7.0.1 Language/zh"
	want := "https://open.weixin.qq.com/connect/oauth2/authorize?agentid=1000002&appid=ww0123456789abcdef&redirect_uri=https%3A%2F%2Fb.example%2F&response_type=code&scope=snsapi_base&state=" + state + "#wechat_redirect"
	if got := begun(c, Visit{State: state, Back: "https://b.example/", UserAgent: phone}); got != want {
		t.Errorf("Begin = %s\nwant %s", got, want)
	}
	for _, other := range []string{"", "Mozilla/5.0 (iPhone) Mobile/15E148 MicroMessenger/8.0.50",
		"Mozilla/5.0 (Linux; Android 14) Chrome/140.0.0.0 Mobile Safari/537.36"} {
		if got := begun(c, Visit{State: state, Back: back, UserAgent: other}); !strings.Contains(got, "/wwlogin/sso/login?") {
			t.Errorf("in %q: %s", other, got)
		}
	}
}

func TestConfigsOfOrganizationsAreChecked(t *testing.T) {
	s := storage.NewSecret(secret)
	for _, c := range []WeCom{
		{}, {CorpID: "ww1", Secret: s}, {CorpID: "ww:1", AgentID: "1", Secret: s}, {CorpID: "ww1", AgentID: "one", Secret: s},
		{CorpID: "ww1", AgentID: "1"},
		{CorpID: "ww1", AgentID: "1", Secret: s, InAppURL: "javascript:x"},
	} {
		if made, err := NewWeCom(c); err == nil || made != nil {
			t.Errorf("NewWeCom(%+v) = %v, want an error", c, made)
		}
	}
	if made, err := NewFeishu(Feishu{ID: "a:b", Secret: s}); err == nil || made != nil {
		t.Errorf("NewFeishu = %v", made)
	}
	if made, err := NewDingTalk(DingTalk{ID: "ding"}); err == nil || made != nil {
		t.Errorf("NewDingTalk = %v", made)
	}
	lark, err := NewFeishu(Feishu{ID: "cli_a", Secret: s, Lark: true})
	if err != nil || !strings.HasPrefix(begun(lark, Visit{State: state, Back: back}),
		"https://accounts.larksuite.com/open-apis/authen/v1/authorize?") {
		t.Errorf("Lark begins at %s, %v", begun(lark, Visit{State: state, Back: back}), err)
	}
}
