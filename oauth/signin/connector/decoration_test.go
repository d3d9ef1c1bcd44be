package connector

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// named changes the nickname in the last answer of good.
func named(name, from, to string) map[string][]cannedResponse {
	answers, step := good(name), steps(name)[len(steps(name))-1]
	a := &answers[step.path][step.nth]
	if name == "alipay" {
		text := string(must(parseObject([]byte(a.body)))["alipay_user_info_share_response"])
		a.body = signedBody(keys()[1], "alipay_user_info_share_response", strings.Replace(text, from, to, 1))
	} else {
		a.body = strings.Replace(a.body, from, to, 1)
	}
	return answers
}

// Users have had what they like in their names, and providers send it as it is: in GBK, with control characters, too
// long, or as another type. It is no reason not to let them in, and what can be read of it is taken.
func TestNicknameMayBeAnything(t *testing.T) {
	for to, want := range map[string]string{
		"\"a\x14b\"": "a b", "\"a\x08b\"": "a b", "\"a\nb\"": "a b", "\"a\tb\"": "a b", "\"a\x7fb\"": "ab", "\"\x00\"": "",
		"\"a\x1f\"":   "a",
		"\"a\xff b\"": "a? b", "\"a\xffb\"": "a??", "\"\xd5\x5c\"": "??", "\"\xcc\xec b\"": "?? b", "\"\xe9\x22": "?",
		"\"张\xb3\"": "张?",
		"null":      "", "7": "7", "1.5": "", "true": "", "[]": "", "{}": "", "[\"N\"]": "", `"\ud800"`: "\ufffd", `"` +
			strings.Repeat("a", 5000) + `"`: strings.Repeat("a", maxText),
	} {
		for _, name := range names {
			c, _ := scripted(t, name, named(name, `"N"`, to))
			p, err := c.Finish(t.Context(), back, returned(name))
			if err != nil || !slices.Equal(p.Subjects, subjectsOf(name)) || p.Nickname != want || p.Unread != "" {
				t.Errorf("%s, a nickname of %.20q: %.200q %v, %v, want %.20q", name, to, p.Nickname, p.Subjects, err, want)
			}
		}
	}
}

// A text for show may hold any byte, but an id that holds one of these is none.
func TestIDWithAControlCharacterIsNone(t *testing.T) {
	for _, name := range []string{"wx", "qq", "douyin", "feishu", "wecom", "dingtalk"} {
		for _, bad := range []string{"o\x01", "\x1fo", "o\n1"} {
			answers := good(name)
			for _, queue := range answers {
				for i := range queue {
					queue[i].body = strings.NewReplacer(`"o1"`, `"`+bad+`"`, `"O1"`, `"`+bad+`"`).Replace(queue[i].body)
				}
			}
			c, _ := scripted(t, name, answers)
			if p, err := c.Finish(t.Context(), back, returned(name)); !errors.As(err, new(*Trouble)) {
				t.Errorf("%s, an id of %q: %v, %v, want a Trouble", name, bad, p, err)
			}
		}
	}
}

// A profile that does not come costs the nickname. The user has been proven already, and the operator reads what is
// wrong.
func TestProfileThatFailsCostsNoSignIn(t *testing.T) {
	for _, name := range names {
		last := len(steps(name)) - 1
		for _, status := range []int{301, 400, 401, 403, 404, 429, 500, 502, 503} {
			answers, step := good(name), steps(name)[last]
			answers[step.path][step.nth] = cannedResponse{status, "text/html", "<html>the-access-token"}
			c, _ := scripted(t, name, answers)
			p, err := c.Finish(t.Context(), back, returned(name))
			switch {
			case !decorates(name, last):
				if !errors.As(err, new(*Trouble)) {
					t.Errorf("%s, %d where it says who it is: %v, %v, want a Trouble", name, status, p, err)
				}
			case err != nil || !slices.Equal(p.Subjects, provenBy(name)) || !strings.Contains(p.Unread, name+": http ") ||
				strings.Contains(p.Unread, "the-access-token"):
				t.Errorf("%s, %d about the user: %+v, %v", name, status, p, err)
			}
		}
		answers, step := good(name), steps(name)[last]
		answers[step.path][step.nth] = ok(strings.Repeat("x", maxBody+1))
		c, _ := scripted(t, name, answers)
		if p, err := c.Finish(t.Context(), back, returned(name)); decorates(name, last) && (err != nil || p.Unread == "") {
			t.Errorf("%s, a profile without an end: %+v, %v", name, p, err)
		}
	}
}

// A person whom the application may not see, or who is no employee, is no user of it, however much is known of
// them.
func TestStrangerIsNotLetInForALackOfAProfile(t *testing.T) {
	for _, code := range []string{"60011", "60111"} {
		answers := good("wecom")
		answers[wecomUserPath][0] = ok(`{"errcode":` + code + `,"errmsg":"no"}`)
		c, _ := scripted(t, "wecom", answers)
		if p, err := c.Finish(t.Context(), back, returned("wecom")); !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %v, %v, want ErrStranger", code, p, err)
		}
	}
}

func TestMemberOfWeComIsUserIdTooOrNone(t *testing.T) {
	for body, want := range map[string]error{
		`{"errcode":0,"UserId":"O1","DeviceId":""}`: nil, `{"errcode":0,"userid":"o1"}`: nil,
		`{"errcode":0,"OpenId":"x"}`: ErrStranger, `{"errcode":0,"openid":"x"}`: ErrStranger,
	} {
		answers := good("wecom")
		answers[wecomWhoPath][0] = ok(body)
		c, s := scripted(t, "wecom", answers)
		p, err := c.Finish(t.Context(), back, returned("wecom"))
		if !errors.Is(err, want) || want == nil &&
			(err != nil || !slices.Equal(p.Subjects, subjectsOf("wecom")) || p.Nickname != "N" ||
				s.requests[len(s.requests)-1].Form.Get("userid") == "") {
			t.Errorf("%s: %+v, %v, want %v", body, p, err, want)
		}
	}
}
