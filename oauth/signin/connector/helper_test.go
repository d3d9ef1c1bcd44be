package connector

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
)

const (
	state  = "0123456789abcdef0123456789abcdef"
	back   = "https://id.example.com/oauth/signin/return?a=b c"
	secret = "s3cret-of-the-application"
	code   = "c0de-from-the-browser"
)

// cannedProvider is a provider with prepared responses, path by path and in order; the
// last answer of a path is given again.
type cannedProvider struct {
	mu       sync.Mutex
	answers  map[string][]cannedResponse
	requests []*http.Request // their bodies are in Form
}

type cannedResponse struct {
	status int
	kind   string
	body   string
}

func (s *cannedProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Form = r.URL.Query()
	if r.ContentLength > 0 {
		body, _ := io.ReadAll(r.Body)
		if r.Form, _ = url.ParseQuery(string(body)); r.Header.Get("Content-Type") == "application/json; charset=utf-8" {
			members := map[string]string{}
			json.Unmarshal(body, &members)
			r.Form = url.Values{}
			for name, value := range members {
				r.Form.Set(name, value)
			}
		}
	}
	s.requests = append(s.requests, r)
	queue := s.answers[r.URL.Path]
	a := cannedResponse{status: http.StatusNotFound, body: "nothing here"}
	if len(queue) > 0 {
		a, s.answers[r.URL.Path] = queue[0], queue[min(1, len(queue)-1):]
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

func ok(body string) cannedResponse {
	return cannedResponse{status: http.StatusOK, kind: "text/plain", body: body}
}

// Paths of the real providers.
const (
	wxTokenPath     = "/sns/oauth2/access_token"
	wxUserPath      = "/sns/userinfo"
	qqTokenPath     = "/oauth2.0/token"
	qqMePath        = "/oauth2.0/me"
	qqUserPath      = "/user/get_user_info"
	alipayPath      = "/gateway.do"
	douyinTokenPath = "/oauth/access_token/"
	douyinUserPath  = "/oauth/userinfo/"
	feishuTokenPath = "/open-apis/authen/v2/oauth/token"
	feishuUserPath  = "/open-apis/authen/v1/user_info"
	wecomTokenPath  = "/cgi-bin/gettoken"
	wecomWhoPath    = "/cgi-bin/auth/getuserinfo"
	wecomUserPath   = "/cgi-bin/user/get"
	dingTokenPath   = "/v1.0/oauth2/userAccessToken"
	dingUserPath    = "/v1.0/contact/users/me"
)

// ids are the applications' ids in tests.
var ids = map[string]string{
	"wx": "wx0123456789abcdef", "qq": "101896710", "alipay": "2021000000000001", "douyin": "awtest0123456789",
	"feishu": "cli_a1b2c3d4e5f6", "wecom": "ww0123456789abcdef", "dingtalk": "dingabcdefghijklmnop",
}

// names are the providers, in a fixed order.
var names = []string{"wx", "qq", "alipay", "douyin", "feishu", "wecom", "dingtalk"}

// keys are drawn once: application's, alipay's, another's.
var keys = sync.OnceValue(func() (k [3]*rsa.PrivateKey) {
	for i := range k {
		k[i], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return k
})

func pkcs8(key *rsa.PrivateKey) string {
	raw, _ := x509.MarshalPKCS8PrivateKey(key)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

func pkix(key *rsa.PrivateKey) string {
	raw, _ := x509.MarshalPKIXPublicKey(key.Public())
	return base64.StdEncoding.EncodeToString(raw)
}

// connect makes one of them; they ask the real addresses, through client.
func connect(t testing.TB, name string, client *http.Client) Connector {
	t.Helper()
	s := storage.NewSecret(secret)
	var c Connector
	var err error
	switch name {
	case "wx":
		c, err = NewWX(WX{ID: ids[name], Secret: s, Client: client})
	case "qq":
		c, err = NewQQ(QQ{ID: ids[name], Secret: s, Client: client})
	case "alipay":
		c, err = NewAlipay(Alipay{ID: ids[name], PrivateKey: storage.NewSecret(pkcs8(keys()[0])), PublicKey: pkix(keys()[1]),
			Client: client})
	case "douyin":
		c, err = NewDouyin(Douyin{ID: ids[name], Secret: s, Client: client})
	case "feishu":
		c, err = NewFeishu(Feishu{ID: ids[name], Secret: s, Client: client})
	case "wecom":
		c, err = NewWeCom(WeCom{CorpID: ids[name], AgentID: "1000002", Secret: s, Client: client})
	case "dingtalk":
		c, err = NewDingTalk(DingTalk{ID: ids[name], Secret: s, Client: client})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scripted makes one of them over a script.
func scripted(t testing.TB, name string, answers map[string][]cannedResponse) (Connector, *cannedProvider) {
	s := &cannedProvider{answers: answers}
	return connect(t, name, &http.Client{Transport: s}), s
}

// returned is the query a browser brings back.
func returned(name string) url.Values {
	if name == "alipay" {
		return url.Values{"auth_code": {code}, "app_id": {ids[name]}, "scope": {"auth_user"}, "state": {state}}
	}
	if name == "dingtalk" {
		return url.Values{"authCode": {code}, "state": {state}}
	}
	return url.Values{"code": {code}, "state": {state}}
}

// signedBody returns an answer of alipay: the member, and its signature by a key.
func signedBody(key *rsa.PrivateKey, member, text string) string {
	sign, _ := signature(key, []byte(text))
	return `{"` + member + `":` + text + `,"sign":"` + sign + `"}`
}

// vectors are the 22 answers of real providers.
func vectors(t testing.TB) map[string]cannedResponse {
	t.Helper()
	raw, err := os.ReadFile("testdata/login-providers.json")
	if err != nil {
		t.Fatal(err)
	}
	var in map[string]struct {
		Status      int
		ContentType string `json:"content_type"`
		Body        string
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatal(err)
	}
	out := map[string]cannedResponse{}
	for name, v := range in {
		if whole, ok := parseObject([]byte(v.Body)); ok && whole.text("sign") == "BASE64" {
			for member, text := range whole {
				if member != "sign" {
					v.Body = signedBody(keys()[1], member, string(text))
				}
			}
		}
		out[name] = cannedResponse{v.Status, v.ContentType, v.Body}
	}
	return out
}
