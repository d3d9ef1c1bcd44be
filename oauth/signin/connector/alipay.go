package connector

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/oauth/signin/connector/internal/legible"
	"github.com/keystile/keystile/storage"
)

// Alipay is the Config of Alipay's website login with RSA2 keys (not with certificates).
type Alipay struct {
	ID string // required: APPID
	// required: the application's, RSA of 2048 bits or more; PKCS#8 or PKCS#1, PEM or bare base64
	PrivateKey storage.Secret
	PublicKey  string       // required: alipay's, not the application's; PEM or bare base64
	Client     *http.Client // nil: our own

	AuthorizeURL string // "": https://openauth.alipay.com/oauth2/publicAppAuthorize.htm
	GatewayURL   string // "": https://openapi.alipay.com/gateway.do
}

// alipay has one address for everything; both sides sign what they send.
type alipay struct {
	*base
	authorize, gateway string
	ours               *rsa.PrivateKey
	theirs             *rsa.PublicKey
}

// NewAlipay makes the connector alipay, or reports all errors of the Config.
func NewAlipay(c Alipay) (Connector, error) {
	k := check{name: storage.LoginAlipay}
	a := &alipay{
		base:      newUpstream(k.name, k.id(c.ID), c.PrivateKey, c.Client, alipayMeanings, nil),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://openauth.alipay.com/oauth2/publicAppAuthorize.htm"),
		gateway:   k.endpoint("GatewayURL", c.GatewayURL, "https://openapi.alipay.com/gateway.do"),
	}
	var err error
	if a.ours, err = readPrivateKey(c.PrivateKey.Reveal()); err != nil {
		k.add("PrivateKey: %w", err)
	}
	if a.theirs, err = readPublicKey(c.PublicKey); err != nil {
		k.add("PublicKey: %w", err)
	}
	if err == nil && a.ours != nil && a.theirs.Equal(a.ours.Public()) {
		k.add("PublicKey: this is the application's own; give alipay's, which its console shows beside it")
	}
	return k.made(a)
}

// By sub_code, or code where there is none.
var alipayMeanings = map[string]meaning{
	"20000":                            {hint: "busy; it passes"},
	"aop.invalid-auth-token":           {hint: "the access token is not accepted"},
	"aop.auth-token-time-out":          {hint: "the access token has expired"},
	"isp.unknow-error":                 {hint: "busy; it passes"},
	"aop.unknow-error":                 {hint: "busy; it passes"},
	"isv.code-invalid":                 {err: ErrCode}, // used, expired, made up or of another application
	"isv.invalid-app-id":               {hint: "the ID is wrong"},
	"isv.invalid-signature":            {hint: "the PrivateKey does not fit the public key entered in the console"},
	"isv.missing-signature-key":        {hint: "the console has no public key of the application"},
	"isv.invalid-timestamp":            {hint: "the clock of this machine is wrong"},
	"isv.insufficient-isv-permissions": {hint: "the application has no right to the member's information"},
}

func (a *alipay) Begin(_ context.Context, v Visit) (string, error) {
	return addParams(a.authorize, url.Values{
		"app_id": {a.id}, "scope": {"auth_user"}, "redirect_uri": {v.Back}, "state": {v.State},
	}), nil
}

// Finish implements Connector. An error is accepted without a signature, because it signs no user in, and the
// gateway does not sign its answers to an application that it does not know. All other answers are verified
// with alipay's key, byte for byte, under the one name that was requested.
func (a *alipay) Finish(ctx context.Context, _ string, query url.Values) (Profile, error) {
	ctx, t, done, err := a.open(ctx, query, "auth_code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	tokens, err := a.call(ctx, t, "alipay.system.oauth.token", url.Values{"grant_type": {"authorization_code"},
		"code": {t.code}})
	if err != nil {
		return Profile{}, err
	}
	token, err := t.token(tokens)
	if err != nil {
		return Profile{}, err
	}
	user, err := a.call(ctx, t, "alipay.user.info.share", url.Values{"auth_token": {token}})
	if err := t.show(err); err != nil {
		return Profile{}, err
	}
	return t.profile(alipayIdentity(tokens), alipayIdentity(user), Profile{
		Nickname: user.text("nick_name"),
		Avatar:   pictureURL(user.text("avatar")),
		Gender:   gender(strings.ToUpper(user.text("gender")), "M", "F"),
		Location: location(user.text("province"), user.text("city")),
	})
}

// beijing is the time zone of the gateway. It has no summer time, so no zone database is needed.
var beijing = time.FixedZone("UTC+8", 8*60*60)

// call calls a method of the gateway and returns the object it answers under that name.
func (a *alipay) call(ctx context.Context, t *exchange, method string, params url.Values) (object, error) {
	for name, value := range map[string]string{
		"app_id": a.id, "method": method, "format": "JSON", "charset": "utf-8", "sign_type": "RSA2",
		"timestamp": time.Now().In(beijing).Format("2006-01-02 15:04:05"), "version": "1.0",
	} {
		params.Set(name, value)
	}
	sign, err := signature(a.ours, signed(params))
	if err != nil {
		return nil, t.trouble("", "could not be asked: the PrivateKey does not sign")
	}
	params.Set("sign", sign)
	got, err := t.post(ctx, a.gateway, params, nil)
	if err != nil {
		return nil, err
	}
	member := strings.ReplaceAll(method, ".", "_") + "_response"
	whole, err := t.parse(got, parseObject, func(o object) (code, text string) { return alipayFault(o, member) })
	if err != nil {
		return nil, err
	}
	in := whole.inner(member)
	if t.forged = in == nil || !verified(a.theirs, sent(got.body, whole[member]), whole.text("sign")); t.forged {
		return nil, t.trouble("", "answered what is not signed with the PublicKey")
	}
	return in, nil
}

// sent returns the bytes of a member as they were sent, and signed.
func sent(body []byte, member json.RawMessage) []byte {
	at := bytes.Index(legible.Text(body), member)
	if at < 0 {
		return nil
	}
	return body[at : at+len(member)]
}

// alipayFault returns the error of an answer: under a name of its own, or with a code in place of
// the result.
func alipayFault(o object, member string) (code, text string) {
	in := o.inner(member)
	if _, apart := o["error_response"]; apart {
		in = o.inner("error_response")
		code = cmp.Or(in.fault("code"), "unreadable")
	} else if code = in.fault("code"); code == "" || code == "10000" { // a token comes without a code
		return "", ""
	}
	text = in.text("msg") + ": " + in.text("sub_msg")
	if sub := in.fault("sub_code"); sub != "" {
		return sub, code + ": " + text
	}
	return code, text
}

func alipayIdentity(o object) identity { return identity{o.text("user_id"), o.text("open_id")} }
