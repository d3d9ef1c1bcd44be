package logintype

import "testing"

func TestMethodWithoutANameInTheProtocolIsSelf(t *testing.T) {
	for method, want := range map[string]string{
		"self": "self", "email": "email", "wx": "wx", "alipay": "alipay", "qq": "qq", "douyin": "douyin",
		"feishu": "self", "wecom": "self", "dingtalk": "self", "badge": "self", "": "self", "WX": "self",
	} {
		if got := Of(method); got != want {
			t.Errorf("Of(%q) = %q, want %q", method, got, want)
		}
	}
}

func TestExtendedShowsTheMethodItself(t *testing.T) {
	for method, want := range map[string][2]string{
		"feishu": {"self", "feishu"}, "badge": {"self", "badge"}, "wx": {"wx", "wx"}, "self": {"self", "self"},
		"": {"self", "self"},
	} {
		if got := [2]string{Shown(Protocol, method), Shown(Extended, method)}; got != want {
			t.Errorf("%q is shown as %q, want %q", method, got, want)
		}
	}
}
