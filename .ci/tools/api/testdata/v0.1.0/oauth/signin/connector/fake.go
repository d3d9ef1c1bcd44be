package fake // import "github.com/keystile/keystile/oauth/signin/connector/fake"

import "github.com/keystile/keystile/oauth/signin/connector"
import "github.com/keystile/keystile/oauth/signin/connector/oidc"
import "log/slog"
import "net/http"

type Config struct {
	BaseURL string
	Path    string
	Log     *slog.Logger
}

type Configs struct {
	WX       connector.WX
	QQ       connector.QQ
	Alipay   connector.Alipay
	Douyin   connector.Douyin
	Feishu   connector.Feishu
	WeCom    connector.WeCom
	DingTalk connector.DingTalk
	OIDC     oidc.Config
	GitHub   connector.GitHub
}

type Fake struct{ _ []struct{} }

func (*Fake) Configs() Configs
func (*Fake) RotateKeys()
func (*Fake) ServeHTTP(w http.ResponseWriter, r *http.Request)

func New(c Config) (*Fake, error)

const Path = "/fake-providers"
