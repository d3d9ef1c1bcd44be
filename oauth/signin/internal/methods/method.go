package methods

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// providers holds the common names of the providers, in English.
var providers = map[string]string{
	storage.LoginWX: "WeChat", storage.LoginQQ: "QQ", storage.LoginAlipay: "Alipay", storage.LoginDouyin: "Douyin",
	storage.LoginFeishu: "Feishu", storage.LoginWeCom: "WeCom", storage.LoginDingTalk: "DingTalk",
}

// Names holds the names of the methods of our own, in English.
var Names = map[string]string{
	storage.LoginSelf: "Username and password", storage.LoginEmail: "Email", storage.LoginWX: providers[storage.LoginWX],
	storage.LoginAlipay: providers[storage.LoginAlipay], storage.LoginQQ: providers[storage.LoginQQ],
	storage.LoginDouyin: providers[storage.LoginDouyin],
	storage.LoginFeishu: providers[storage.LoginFeishu], storage.LoginWeCom: providers[storage.LoginWeCom],
	storage.LoginDingTalk: providers[storage.LoginDingTalk],
}

// LoginType returns the login type of a method for applications: self for a method that the
// protocol has no name for.
func LoginType(method string) string { return logintype.Of(method) }

var methodName = pattern.Lazy(`^[a-z][a-z0-9-]{0,31}$`)

// LabelOf returns the name of a provider, in English. For a host's own method the label is %s, and
// of is its name in every language.
func LabelOf(c connector.Connector) (label, of string, err error) {
	name := c.Name()
	if providers[name] != "" {
		return providers[name], "", nil
	}
	of = c.Label()
	if of == "" {
		return "", "", fmt.Errorf("signin: Connectors: %q is none of wx, qq, alipay, douyin, feishu, wecom, dingtalk; give "+
			"it a Label if it is a method of your own", name)
	}
	if Names[name] != "" || name == "passkey" || !methodName().MatchString(name) {
		return "", "", fmt.Errorf("signin: Connectors: %q is no name for a method of your own: give a letter of a to z and "+
			"up to 31 of a to z, 0 to 9 and -, and not self, email or passkey", name)
	}
	hidden := strings.ContainsFunc(of, func(r rune) bool { return !unicode.IsPrint(r) })
	if strings.TrimSpace(of) == "" || len(of) > 60 || hidden || !utf8.ValidString(of) {
		return "", "", fmt.Errorf("signin: Connectors: the Label %q of %s: give 1 to 60 bytes of visible text", of, name)
	}
	return "%s", of, nil
}

// Labels holds the labels of the methods that the protocol does not name, by method.
type Labels map[string]string

// Of returns the label of a method, in English or as the host calls it.
func (l Labels) Of(method string) string { return cmp.Or(Names[method], l[method], method) }
