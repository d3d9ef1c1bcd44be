package connector // import "github.com/keystile/keystile/oauth/signin/connector"

import "context"
import "github.com/keystile/keystile/storage"
import "net/http"
import "net/url"
import "time"

type Alipay struct {
	ID           string
	PrivateKey   storage.Secret
	PublicKey    string
	Client       *http.Client
	AuthorizeURL string
	GatewayURL   string
}

type Asked struct {
	Login         bool
	SelectAccount bool
	MaxAge        time.Duration
	LoginHint     string
	UILocales     string
	Email         bool
}

func (Asked) Fresh() bool

type Connector interface {
	Begin(ctx context.Context, v Visit) (string, error)
	Finish(ctx context.Context, back string, query url.Values) (Profile, error)
	Label() string
	Name() string
}

type DingTalk struct {
	ID           string
	Secret       storage.Secret
	Client       *http.Client
	AuthorizeURL string
	TokenURL     string
	UserURL      string
}

type Douyin struct {
	ID           string
	Secret       storage.Secret
	Client       *http.Client
	AuthorizeURL string
	TokenURL     string
	UserURL      string
}

var ErrCode error

var ErrDenied error

var ErrStranger error

type Feishu struct {
	ID           string
	Secret       storage.Secret
	Client       *http.Client
	Lark         bool
	AuthorizeURL string
	TokenURL     string
	UserURL      string
}

type GitHub struct {
	Name         string
	Label        string
	ID           string
	Secret       storage.Secret
	Client       *http.Client
	Domains      []string
	TrustEmail   bool
	AuthorizeURL string
	TokenURL     string
	UserURL      string
	EmailsURL    string
}

func NewAlipay(c Alipay) (Connector, error)

func NewDingTalk(c DingTalk) (Connector, error)

func NewDouyin(c Douyin) (Connector, error)

func NewFeishu(c Feishu) (Connector, error)

func NewGitHub(c GitHub) (Connector, error)

func NewQQ(c QQ) (Connector, error)

func NewTrouble(provider string, code string, text string, cause error) *Trouble

func NewWX(c WX) (Connector, error)

func NewWeCom(c WeCom) (Connector, error)

type Profile struct {
	Subjects       []string
	Nickname       string
	Avatar         string
	Gender         string
	Location       string
	Email          string
	ConfirmedEmail string
	Groups         []string
	AuthTime       time.Time
	Unread         string
}

func (Profile) Tidy() Profile

type QQ struct {
	ID           string
	Secret       storage.Secret
	Client       *http.Client
	AuthorizeURL string
	TokenURL     string
	OpenIDURL    string
	UserURL      string
}

type Trouble struct {
	Provider string
	Code     string
	Text     string
	_        struct{}
}

func (*Trouble) Error() string
func (*Trouble) Unwrap() error

type Visit struct {
	State     string
	Back      string
	Mobile    bool
	UserAgent string
	Asked
}

type WX struct {
	ID           string
	Secret       storage.Secret
	Client       *http.Client
	AuthorizeURL string
	TokenURL     string
	UserURL      string
}

type WeCom struct {
	CorpID       string
	AgentID      string
	Secret       storage.Secret
	Client       *http.Client
	AuthorizeURL string
	InAppURL     string
	TokenURL     string
	IdentityURL  string
	UserURL      string
}
