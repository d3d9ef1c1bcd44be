package logintype

import "testing"

func TestAMethodWithoutANameInTheProtocolIsSelf(t *testing.T) {
	for method, want := range map[string]string{
		"self": "self", "email": "email", "wx": "wx", "alipay": "alipay", "qq": "qq", "douyin": "douyin",
		"feishu": "self", "wecom": "self", "dingtalk": "self", "badge": "self", "": "self", "WX": "self",
	} {
		if got := Of(method); got != want {
			t.Errorf("Of(%q) = %q, want %q", method, got, want)
		}
	}
}
