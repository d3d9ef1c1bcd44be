package connector

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A browser that comes back without a code has said no, unless the provider says otherwise;
// nobody is asked anything.
func TestComingBackWithoutACodeIsANo(t *testing.T) {
	for _, c := range []struct {
		names []string
		query string
		want  error
	}{
		{names, "state=" + state, ErrDenied},
		{names, "", ErrDenied},
		{names, "code=&auth_code=", ErrDenied},
		{names, "error=access_denied&error_description=no", ErrDenied},
		{[]string{"qq"}, "usercancel=1&state=" + state, ErrDenied},
		{[]string{"wx"}, "code=authdeny&state=" + state, ErrDenied},
		{[]string{"alipay"}, "code=" + code, ErrDenied}, // it calls it auth_code
		{names, "code=a&code=b&auth_code=a&auth_code=b", ErrCode},
		{names, "code=a%0ab&auth_code=%e4%bd%a0", ErrCode},
		{names, "code=" + strings.Repeat("x", maxCode+1) + "&auth_code=" + strings.Repeat("x", maxCode+1), ErrCode},
		{names, "error=server_error&error_description=we%0aare%0dclosed", new(Trouble)},
	} {
		for _, name := range c.names {
			connector, s := scripted(t, name, nil)
			query, _ := url.ParseQuery(c.query)
			p, err := connector.Finish(t.Context(), back, query)
			trouble := new(Trouble)
			if want := c.want; errors.As(want, &trouble) && (!errors.As(err, &trouble) ||
				trouble.Error() != name+": server_error: sent the browser back: weareclosed") || !errors.As(want, &trouble) &&
				!errors.Is(err, want) {
				t.Errorf("%s: Finish(%.60s) = %v, want %v", name, c.query, err, want)
			}
			if len(s.requests) > 0 || p.Subjects != nil {
				t.Errorf("%s: Finish(%.60s) asked %d times and found %v", name, c.query, len(s.requests), p.Subjects)
			}
		}
	}
}

// good holds a successful exchange of each provider.
func good(name string) map[string][]cannedResponse {
	switch name {
	case "wx":
		return map[string][]cannedResponse{
			wxTokenPath: {ok(`{"access_token":"the-access-token","refresh_token":"the-refresh-token","openid":"o1","unionid":"u1"}`)},
			wxUserPath:  {ok(`{"openid":"o1","unionid":"u1","nickname":"N"}`)},
		}
	case "qq":
		return map[string][]cannedResponse{
			qqTokenPath: {ok(`{"access_token":"the-access-token","refresh_token":"the-refresh-token","openid":"o1"}`)},
			qqMePath:    {ok(`{"client_id":"101896710","openid":"o1","unionid":"u1"}`)},
			qqUserPath:  {ok(`{"ret":0,"nickname":"N"}`)},
		}
	case "alipay":
		return map[string][]cannedResponse{alipayPath: {
			ok(signedBody(keys()[1], "alipay_system_oauth_token_response", `{"access_token":"the-access-token","refresh_token":"the-refresh-token","open_id":"o1","user_id":"u1"}`)),
			ok(signedBody(keys()[1], "alipay_user_info_share_response", `{"code":"10000","open_id":"o1","user_id":"u1","nick_name":"N"}`)),
		}}
	case "feishu":
		return map[string][]cannedResponse{
			feishuTokenPath: {ok(`{"code":0,"access_token":"the-access-token","refresh_token":"the-refresh-token","expires_in":7200}`)},
			feishuUserPath:  {ok(`{"code":0,"msg":"success","data":{"open_id":"o1","union_id":"u1","name":"N"}}`)},
		}
	case "wecom":
		return map[string][]cannedResponse{
			wecomTokenPath: {ok(`{"errcode":0,"errmsg":"ok","access_token":"the-access-token","refresh_token":"the-refresh-token","expires_in":7200}`)},
			wecomWhoPath:   {ok(`{"errcode":0,"errmsg":"ok","userid":"O1"}`)},
			wecomUserPath:  {ok(`{"errcode":0,"errmsg":"ok","userid":"o1","name":"N"}`)},
		}
	case "dingtalk":
		return map[string][]cannedResponse{
			dingTokenPath: {ok(`{"accessToken":"the-access-token","refreshToken":"the-refresh-token","expireIn":7200}`)},
			dingUserPath:  {ok(`{"openId":"o1","unionId":"u1","nick":"N"}`)},
		}
	default:
		return map[string][]cannedResponse{
			douyinTokenPath: {ok(`{"data":{"access_token":"the-access-token","refresh_token":"the-refresh-token","open_id":"o1"}}`)},
			douyinUserPath:  {ok(`{"data":{"open_id":"o1","union_id":"u1","nickname":"N"}}`)},
		}
	}
}

// steps are the answers of a good walk, in order: where each is, and how to change it.
func steps(name string) []struct {
	path string
	nth  int
} {
	type step = struct {
		path string
		nth  int
	}
	return map[string][]step{
		"wx": {{wxTokenPath, 0}, {wxUserPath, 0}}, "qq": {{qqTokenPath, 0}, {qqMePath, 0}, {qqUserPath, 0}},
		"alipay": {{alipayPath, 0}, {alipayPath, 1}}, "douyin": {{douyinTokenPath, 0}, {douyinUserPath, 0}},
		"feishu":   {{feishuTokenPath, 0}, {feishuUserPath, 0}},
		"wecom":    {{wecomTokenPath, 0}, {wecomWhoPath, 0}, {wecomUserPath, 0}},
		"dingtalk": {{dingTokenPath, 0}, {dingUserPath, 0}},
	}[name]
}

// subjectsOf returns who the user of good is.
func subjectsOf(name string) []string {
	all := []string{"u:u1", "o:" + ids[name] + ":o1"}
	if name == "wecom" { // it has the corporation's id alone
		return all[1:]
	}
	return all
}

func TestSubjectsAreAllThatIsKnownTheStrongestFirst(t *testing.T) {
	for _, name := range names {
		c, _ := scripted(t, name, good(name))
		p, err := c.Finish(t.Context(), back, returned(name))
		want := subjectsOf(name)
		if err != nil || !slices.Equal(p.Subjects, want) || p.Nickname != "N" {
			t.Errorf("%s: Finish = %v, %v, want %v", name, p, err, want)
		}
	}
}

// decorates reports whether an answer of a walk is about a user whom an earlier one has named.
func decorates(name string, nth int) bool {
	return name != "feishu" && name != "dingtalk" && nth == len(steps(name))-1
}

// provenBy returns who the user of good is before anything is told of them: douyin's token
// comes with one id, and the other with the profile.
func provenBy(name string) []string {
	if name == "douyin" {
		return subjectsOf(name)[1:]
	}
	return subjectsOf(name)
}

// Nothing in the place of an answer that says who somebody is signs anybody in. In the place of one that only tells of
// them it costs their nickname, and the operator reads why.
func TestAnswersThatAreNoneLetNobodyIn(t *testing.T) {
	for _, name := range names {
		for i, step := range steps(name) {
			for _, body := range []string{
				"", " ", "null", "[]", "[{}]", `"x"`, "0", "{", "{}", "{}{}", `{"data":null}`, `{"data":[]}`, "<html>", "callback();", "callback({)", "(", "\xff", "a=%zz",
				"access_token=a&access_token=b", `{"access_token":{"a":1}}`, `{"access_token":1.5}`,
				`{"data":{"access_token":"a"}}`, `{"access_token":"a"}`, `{"errcode":"no","error":"no","ret":0,"openid":"o1","access_token":"a"}`,
				`{"errcode":true,"error":{},"ret":0,"openid":"o1","access_token":"a"}`, `{"data":{"error_code":[],"open_id":"o1","access_token":"a"}}`,
			} {
				if name == "qq" && i == 0 && body == `{"access_token":"a"}` {
					continue // qq names the person in the next answer
				}
				answers := good(name)
				answers[step.path][step.nth] = ok(body)
				c, _ := scripted(t, name, answers)
				p, err := c.Finish(t.Context(), back, returned(name))
				if decorates(name, i) && (name != "alipay" || err == nil) { // what alipay has not signed may be anybody's
					if err != nil || !slices.Equal(p.Subjects, provenBy(name)) || p.Nickname != "" || p.Unread == "" {
						t.Errorf("%s with %q about the user: %+v, %v, want them without a nickname, and why", name, body, p, err)
					}
					continue
				}
				if trouble := new(Trouble); !errors.As(err, &trouble) || p.Subjects != nil {
					t.Errorf("%s with %q as answer %d: %v, %v, want a Trouble", name, body, i, p, err)
				}
			}
		}
	}
}

// Two answers about different users are an error, and so is an id that is none:
// leaving it out would make a second account.
func TestMixedUpIdentitiesLetNobodyIn(t *testing.T) {
	for _, name := range names {
		last := len(steps(name)) - 1
		if name == "qq" {
			last = 1
		}
		step := steps(name)[last]
		for _, change := range [][2]string{{`"o1"`, `"o2"`}, {`"o1"`, `"o 1"`}, {`"u1"`, `"u\u00001"`}, {`"u1"`, `"` + strings.Repeat("u", maxID+1) + `"`}, {`"u1"`, `"名"`}} {
			switch {
			case name == "wecom" && change[0] == `"u1"`: // it has none
				continue
			case (name == "feishu" || name == "dingtalk") && change[1] == `"o2"`: // their last answer is the only one that names somebody
				continue
			}
			answers := good(name)
			a := &answers[step.path][step.nth]
			before := a.body
			if name == "alipay" {
				text := string(must(parseObject([]byte(a.body)))["alipay_user_info_share_response"])
				a.body = signedBody(keys()[1], "alipay_user_info_share_response", strings.Replace(text, change[0], change[1], 1))
			} else {
				a.body = strings.Replace(a.body, change[0], change[1], 1)
			}
			if a.body == before {
				t.Fatalf("%s: nothing was changed by %s", name, change)
			}
			c, _ := scripted(t, name, answers)
			if p, err := c.Finish(t.Context(), back, returned(name)); !errors.As(err, new(*Trouble)) {
				t.Errorf("%s with %s for %s: %v, %v, want a Trouble", name, change[1], change[0], p, err)
			}
		}
	}
	answers := good("qq")
	answers[qqMePath][0] = ok(`{"client_id":"999","openid":"o1"}`)
	c, _ := scripted(t, "qq", answers)
	if _, err := c.Finish(t.Context(), back, returned("qq")); !errors.As(err, new(*Trouble)) {
		t.Errorf("a token of another application: %v, want a Trouble", err)
	}
}

func must(o object, ok bool) object {
	if !ok {
		panic("no object")
	}
	return o
}

// Every code a provider may answer with, in the places it does.
func TestErrorCodesMeanWhatTheProvidersDocument(t *testing.T) {
	wrap := map[string]string{
		"wx": `{"errcode":%s,"errmsg":"words"}`, "qq": `callback( {"error":%s,"error_description":"words"} );`,
		"douyin": `{"data":{"error_code":%s,"description":"words"}}`, "alipay": `{"error_response":{"code":"40002","sub_code":"%s","msg":"words"}}`,
		"feishu": `{"code":%s,"error":"invalid_grant","error_description":"words"}`, "wecom": `{"errcode":%s,"errmsg":"words"}`, "dingtalk": `{"code":"%s","message":"words","requestid":"r"}`,
	}
	for name, table := range map[string]map[string]meaning{
		"wx": wxMeanings, "qq": qqMeanings, "douyin": douyinMeanings, "alipay": alipayMeanings,
		"feishu": feishuMeanings, "wecom": wecomMeanings, "dingtalk": dingtalkMeanings,
	} {
		for number, m := range table {
			shapes := []string{fmt.Sprintf(wrap[name], number)}
			switch name {
			case "douyin":
				shapes = append(shapes, fmt.Sprintf(wrap[name], `"`+number+`"`), `{"extra":{"error_code":`+number+`,"description":"words"},"data":{"error_code":0}}`, `{"err_no":`+number+`,"err_msg":"words"}`)
			case "qq":
				shapes = append(shapes, `{"ret":"`+number+`","msg":"words"}`)
			case "feishu":
				shapes = append(shapes, `{"code":`+number+`,"msg":"words","data":{}}`)
			case "dingtalk":
				shapes = append(shapes, `{"errorCode":"`+number+`","errorMsg":"words"}`)
			}
			for _, body := range shapes {
				for _, status := range []int{200, 400} {
					step := steps(name)[0]
					c, _ := scripted(t, name, map[string][]cannedResponse{step.path: {{status, "", body}}})
					_, err := c.Finish(t.Context(), back, returned(name))
					trouble := new(Trouble)
					switch isTrouble := errors.As(err, &trouble); {
					case m.err != nil && (isTrouble || !errors.Is(err, m.err)):
						t.Errorf("%s: %s = %v, want %v", name, body, err, m.err)
					case m.err == nil && (!isTrouble || trouble.Code != number || !strings.Contains(err.Error(), "words") ||
						!strings.HasSuffix(err.Error(), "("+m.hint+")")):
						t.Errorf("%s: %s = %v, want a Trouble with its words and the hint", name, body, err)
					}
				}
			}
		}
	}
}

// JSONP, a byte order mark and a wrong content type change nothing.
func TestWrappingOfAnAnswerDoesNotMatter(t *testing.T) {
	for _, name := range names {
		for _, format := range []string{"\ufeff%s", "callback( %s );\n", "\r\n jQuery_1.cb(%s) ", "\ufeff\n cb ( %s ) ; "} {
			answers := good(name)
			for _, step := range steps(name) {
				a := &answers[step.path][step.nth]
				a.body, a.kind = fmt.Sprintf(format, a.body), "image/png"
			}
			c, _ := scripted(t, name, answers)
			if p, err := c.Finish(t.Context(), back, returned(name)); err != nil || len(p.Subjects) == 0 {
				t.Errorf("%s in %q: %v, %v", name, format, p, err)
			}
		}
	}
}
