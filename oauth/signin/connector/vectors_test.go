package connector

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// vectorCase is one answer: a vector, as it is or with a text in it replaced so that it speaks of
// the same user as its partner.
type vectorCase struct{ path, vector, old, new string }

var vectorRows = []struct {
	provider string
	turns    []vectorCase
	want     Profile
	err      error  // ErrCode or
	code     string // that of a Trouble
}{
	{provider: "wx", turns: []vectorCase{{wxTokenPath, "wx_token_ok", "", ""}, {wxUserPath, "wx_userinfo_ok", "", ""}},
		want: Profile{
			Subjects: []string{"u:oxW9O1VAL8x-zfWP2hrqW9c81234", "o:wx0123456789abcdef:of_Hl5zVpyj0vwzIlAyIlnXe1234"},
			Nickname: "飞翔的企鹅 😀", Avatar: "https://thirdwx.qlogo.cn/mmopen/vi_32/Q0j/132", Gender: "male",
			Location: "CN Shanghai",
		}},
	{provider: "wx", turns: []vectorCase{{wxTokenPath, "wx_token_code_used", "", ""}}, err: ErrCode},
	{provider: "wx", turns: []vectorCase{{wxTokenPath, "wx_token_code_bad", "", ""}}, err: ErrCode},
	{provider: "wx", turns: []vectorCase{
		{wxTokenPath, "wx_token_ok", `"openid":"of_Hl5zVpyj0vwzIlAyIlnXe1234","scope":"snsapi_login","unionid":"oxW9O1VAL8x-zfWP2hrqW9c81234"`, `"openid":"o1"`},
		{wxUserPath, "wx_userinfo_snapshot_minimal", "", ""},
	}, want: Profile{Subjects: []string{"o:wx0123456789abcdef:o1"}, Nickname: "微信用户",
		Avatar: "https://thirdwx.qlogo.cn/mmopen/x/132"}},
	{provider: "wx", turns: []vectorCase{{wxTokenPath, "wx_token_ok", "", ""},
		{wxUserPath, "wx_userinfo_bad_token", "", ""}}, want: Profile{
		Subjects: []string{"u:oxW9O1VAL8x-zfWP2hrqW9c81234", "o:wx0123456789abcdef:of_Hl5zVpyj0vwzIlAyIlnXe1234"},
		Unread:   "40001",
	}},

	{provider: "qq", turns: []vectorCase{{qqTokenPath, "qq_token_ok_form", "", ""}, {qqMePath, "qq_me_ok_jsonp", "", ""},
		{qqUserPath, "qq_userinfo_ok", "", ""}}, want: Profile{
		Subjects: []string{"u:UID_QQ", "o:101896710:C0D022F92B604AA4B1CDF92CC79463A4"}, Nickname: "飞翔的企鹅",
		Avatar: "http://thirdqq.qlogo.cn/g?b=oidb&k=Q&s=640&t=1", Gender: "male", Location: "安道尔城",
	}},
	{provider: "qq", turns: []vectorCase{{qqTokenPath, "qq_token_ok_json", "", ""},
		{qqMePath, "qq_me_unionid_denied", "", ""}, {qqUserPath, "qq_userinfo_ok", "", ""}}, want: Profile{
		Subjects: []string{"o:101896710:C0D022F92B604AA4B1CDF92CC79463A4"}, Nickname: "飞翔的企鹅",
		Avatar: "http://thirdqq.qlogo.cn/g?b=oidb&k=Q&s=640&t=1", Gender: "male", Location: "安道尔城",
	}},
	{provider: "qq", turns: []vectorCase{
		{qqTokenPath, "qq_token_ok_form", "", ""}, {qqMePath, "qq_me_unionid_denied", "", ""},
		{qqMePath, "qq_me_ok_jsonp", `,"unionid":"UID_QQ"`, ""}, {qqUserPath, "qq_userinfo_ok", "", ""},
	}, want: Profile{
		Subjects: []string{"o:101896710:C0D022F92B604AA4B1CDF92CC79463A4"}, Nickname: "飞翔的企鹅",
		Avatar: "http://thirdqq.qlogo.cn/g?b=oidb&k=Q&s=640&t=1", Gender: "male", Location: "安道尔城",
	}},
	{provider: "qq", turns: []vectorCase{{qqTokenPath, "qq_token_err_jsonp", "", ""}}, err: ErrCode},
	{provider: "qq", turns: []vectorCase{{qqTokenPath, "qq_token_ok_json", "", ""}, {qqMePath, "qq_me_err_jsonp", "", ""}},
		code: "100016"},
	{provider: "qq", turns: []vectorCase{{qqTokenPath, "qq_token_ok_json", "", ""}, {qqMePath, "qq_me_ok_jsonp", "", ""},
		{qqUserPath, "qq_userinfo_err", "", ""}}, want: Profile{
		Subjects: []string{"u:UID_QQ", "o:101896710:C0D022F92B604AA4B1CDF92CC79463A4"}, Unread: "-22",
	}},

	{provider: "alipay", turns: []vectorCase{{alipayPath, "alipay_token_ok", "", ""},
		{alipayPath, "alipay_user_ok", "", ""}}, want: Profile{
		Subjects: []string{"u:2099222233334444", "o:2021000000000001:074a1CcTG1LelxKe4xQC0zgNdId0nxi95b5lsNpazWYoCo5"},
		Nickname: "张三", Avatar: "https://tfs.alipayobjects.com/images/partner/T1", Gender: "female", Location: "安徽省 安庆",
	}},
	{provider: "alipay", turns: []vectorCase{{alipayPath, "alipay_token_code_bad", "", ""}}, err: ErrCode},
	{provider: "alipay", turns: []vectorCase{{alipayPath, "alipay_token_ok", "", ""},
		{alipayPath, "alipay_user_bad_token", "", ""}}, want: Profile{
		Subjects: []string{"u:2099222233334444", "o:2021000000000001:074a1CcTG1LelxKe4xQC0zgNdId0nxi95b5lsNpazWYoCo5"},
		Unread:   "aop.invalid-auth-token",
	}},

	{provider: "douyin", turns: []vectorCase{{douyinTokenPath, "douyin_token_ok", "", ""},
		{douyinUserPath, "douyin_userinfo_ok", "0da22181-d833-447f-995f-1beefea5bef3", "b9b71865-7fea-44cc"}}, want: Profile{
		Subjects: []string{"u:1ad4e099-4a0c-47d1-a410-bffb4f2f64a4", "o:awtest0123456789:b9b71865-7fea-44cc"}, Nickname: "张伟",
		Avatar: "https://example.com/x.jpeg",
	}},
	{provider: "douyin", turns: []vectorCase{{douyinTokenPath, "douyin_token_ok_strings", "", ""},
		{douyinUserPath, "douyin_userinfo_ok", "0da22181-d833-447f-995f-1beefea5bef3", "aaa-bbb-ccc"}}, want: Profile{
		Subjects: []string{"u:1ad4e099-4a0c-47d1-a410-bffb4f2f64a4", "o:awtest0123456789:aaa-bbb-ccc"}, Nickname: "张伟",
		Avatar: "https://example.com/x.jpeg",
	}},
	{provider: "douyin", turns: []vectorCase{{douyinTokenPath, "douyin_token_ok", "b9b71865-7fea-44cc",
		"0da22181-d833-447f-995f-1beefea5bef3"}, {douyinUserPath, "douyin_userinfo_ok", "", ""}}, want: Profile{
		Subjects: []string{"u:1ad4e099-4a0c-47d1-a410-bffb4f2f64a4",
			"o:awtest0123456789:0da22181-d833-447f-995f-1beefea5bef3"}, Nickname: "张伟", Avatar: "https://example.com/x.jpeg",
	}},
	{provider: "douyin", turns: []vectorCase{{douyinTokenPath, "douyin_err", "", ""}}, code: "2100005"},
}

// Each of the 22 answers becomes the right profile or the right error.
func TestAnswersOfTheRealProvidersAreUnderstood(t *testing.T) {
	all, seen := vectors(t), map[string]bool{}
	if len(all) != 22 {
		t.Fatalf("there are %d vectors, want 22", len(all))
	}
	for _, row := range vectorRows {
		var steps []string
		answers := map[string][]cannedResponse{}
		for _, turn := range row.turns {
			a, known := all[turn.vector]
			if !known || !strings.Contains(a.body, turn.old) {
				t.Fatalf("no vector %s with %q in it", turn.vector, turn.old)
			}
			a.body = strings.ReplaceAll(a.body, turn.old, turn.new)
			seen[turn.vector] = seen[turn.vector] || turn.old == ""
			answers[turn.path] = append(answers[turn.path], a)
			steps = append(steps, turn.vector)
		}
		t.Run(strings.Join(steps, "+"), func(t *testing.T) {
			c, s := scripted(t, row.provider, answers)
			got, err := c.Finish(t.Context(), back, returned(row.provider))
			if trouble := new(Trouble); row.code != "" && (!errors.As(err, &trouble) || trouble.Code != row.code ||
				trouble.Provider != row.provider) {
				t.Fatalf("Finish = %v, want a Trouble with code %s", err, row.code)
			}
			if row.code == "" && !errors.Is(err, row.err) {
				t.Fatalf("Finish = %v, want %v", err, row.err)
			}
			if row.want.Unread != "" && strings.Contains(got.Unread, row.want.Unread) {
				got.Unread = row.want.Unread // and more words
			}
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("Finish = %+v\nwant %+v", got, row.want)
			}
			if len(s.requests) != len(row.turns) {
				t.Errorf("%d requests, want %d", len(s.requests), len(row.turns))
			}
		})
	}
	for name := range all {
		if !seen[name] {
			t.Errorf("%s is in no row as it is", name)
		}
	}
}
