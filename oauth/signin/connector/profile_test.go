package connector

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNicknamesAreOneLineOfText(t *testing.T) {
	long := strings.Repeat("飞", 66) // 198 bytes
	for in, want := range map[string]string{
		"": "", "  Ada\t": "Ada", "<b>Robert</b>": "<b>Robert</b>", "a\nb\r\x00c\x7f\u0085": "abc", "\u3000全角\u00a0": "全角",
		"x\u202eevil\u202c\u2066\u200f": "xevil", "a\u2028b\u2029": "ab", "👩\u200d🚀": "👩\u200d🚀", "bad\xffbyte": "badbyte",
		long + "ab": long + "ab", long + "abc": long + "ab", long + "飞": long, long + " 飞飞": long,
		strings.Repeat("a", 199) + "🦊": strings.Repeat("a", 199),
	} {
		got := oneLine(in)
		if got != want || len(got) > maxText || !utf8.ValidString(got) {
			t.Errorf("line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPicturesAreTakenOnlyIfABrowserMayLoadThem(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "https://a.example/x?b=c": "https://a.example/x?b=c", " http://a.example/x ": "http://a.example/x",
		"HTTPS://a.example/":  "HTTPS://a.example/",
		"javascript:alert(1)": "", "data:image/png;base64,AA": "", "//a.example/x": "", "/x": "", "https:///x": "",
		"https://u:p@a.example/": "",
		"https://a.example/a b":  "", "https://a.example/\n": "https://a.example/", "https://a.example/\x00": "",
		"ftp://a.example/": "", "https://" + strings.Repeat("a", maxAddress): "",
	} {
		if got := pictureURL(in); got != want {
			t.Errorf("picture(%q) = %q, want %q", in, got, want)
		}
	}
	if got := pictureURL("", "javascript:x", "https://a.example/2", "https://a.example/3"); got != "https://a.example/2" {
		t.Errorf("the first picture that can be used is %q", got)
	}
	for in, want := range map[string]string{
		"http://thirdwx.qlogo.cn/x/132": "https://thirdwx.qlogo.cn/x/132", "http://wx.qlogo.cn/": "https://wx.qlogo.cn/",
		"http://wx.qlogo.cn:8080/": "http://wx.qlogo.cn:8080/",
		"http://evil-qlogo.cn/":    "http://evil-qlogo.cn/", "http://a.example/.qlogo.cn": "http://a.example/.qlogo.cn",
		"https://wx.qlogo.cn/": "https://wx.qlogo.cn/", "": "",
	} {
		if got := overTLS(in); got != want {
			t.Errorf("overTLS(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlacesAreSaidOnce(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"", "", ""}, ""}, {[]string{"CN", "Shanghai", "Shanghai"}, "CN Shanghai"},
		{[]string{"", " 安徽省 ", "安庆"}, "安徽省 安庆"},
		{[]string{strings.Repeat("a", 150), strings.Repeat("b", 150)},
			strings.Repeat("a", 150) + " " + strings.Repeat("b", 49)},
	} {
		if got := location(c.parts...); got != c.want {
			t.Errorf("place(%q) = %q, want %q", c.parts, got, c.want)
		}
	}
}

// Facts that a provider does not say, or says in a new way, are not guessed at.
func TestGendersThatAreNotKnownAreEmpty(t *testing.T) {
	bodies := map[string]string{
		"wx": `{"openid":"o1","sex":%}`, "qq": `{"ret":0,"gender":%}`, "douyin": `{"data":{"open_id":"o1","gender":%}}`,
		"alipay": `{"code":"10000","open_id":"o1","gender":%}`, "wecom": `{"errcode":0,"userid":"o1","gender":%}`,
	}
	for name, want := range map[string]map[string]string{
		"wx":     {`1`: "male", `2`: "female", `0`: "", `"1"`: "male", `"2"`: "female", `3`: "", `null`: "", `"男"`: "", `-1`: "", `1.0`: "", `{}`: ""},
		"qq":     {`"男"`: "male", `"女"`: "female", `""`: "", `1`: "", `"0"`: "", `null`: ""},
		"douyin": {`1`: "male", `2`: "female", `0`: "", `"2"`: "female", `""`: ""},
		"wecom":  {`"1"`: "male", `"2"`: "female", `"0"`: "", `1`: "male", `""`: ""},
		"alipay": {`"M"`: "male", `"F"`: "female", `"m"`: "male", `"f"`: "female", `"U"`: "", `""`: "", `1`: ""},
	} {
		for word, gender := range want {
			answers := good(name)
			body := strings.Replace(bodies[name], "%", word, 1)
			if name == "alipay" {
				body = signedBody(keys()[1], "alipay_user_info_share_response", body)
			}
			step := steps(name)[len(steps(name))-1]
			answers[step.path][step.nth] = ok(body)
			c, _ := scripted(t, name, answers)
			p, err := c.Finish(t.Context(), back, returned(name))
			if err != nil || p.Gender != gender {
				t.Errorf("%s: gender %s = %q, %v, want %q", name, word, p.Gender, err, gender)
			}
		}
	}
}
