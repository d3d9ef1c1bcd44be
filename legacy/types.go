package legacy

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// offers reports whether the sign-in page offers what a type of a request means.
func (l *Legacy) offers(loginType string) bool {
	return slices.Contains(l.c.Types, logintype.Method(loginType))
}

// settings are those by which an operator offers a login type.
var settings = map[string]string{
	storage.LoginWX:       "connectors.wx.id and connectors.wx.secret",
	storage.LoginQQ:       "connectors.qq.id and connectors.qq.secret",
	storage.LoginAlipay:   "connectors.alipay.id, connectors.alipay.private_key and connectors.alipay.public_key",
	storage.LoginDouyin:   "connectors.douyin.id and connectors.douyin.secret",
	storage.LoginFeishu:   "connectors.feishu.id and connectors.feishu.secret",
	storage.LoginWeCom:    "connectors.wecom.corp_id, connectors.wecom.agent_id and connectors.wecom.secret",
	storage.LoginDingTalk: "connectors.dingtalk.id and connectors.dingtalk.secret",
	storage.LoginEmail:    "mail.smtp.host and mail.from",
}

// notOffered says which types there are, and what the operator has to set for the one that was asked for.
func (l *Legacy) notOffered(loginType string) *reply.Failure {
	text := wrongType.Msg + ": offered are " + strings.Join(l.c.Types, ", ")
	method := logintype.Method(loginType)
	switch set := settings[method]; {
	case set != "":
		text += ". To offer " + method + ", the operator sets " + set +
			" (a program of its own: gives signin.Config that connector, or a Mailer)"
	case methodShape().MatchString(method) && !slices.Contains(loginTypes, method):
		text += ". There is no connector of the name " + method +
			": the operator can add a provider of OpenID Connect with it, in connectors.oidc"
	}
	return wrongType.Saying(text)
}
