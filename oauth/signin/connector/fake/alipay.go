package fake

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"
)

// alipayGateway is one address for two methods, with signatures both ways.
func (f *Fake) alipayGateway(w http.ResponseWriter, r *http.Request) error {
	q, err := readForm(w, r)
	if err != nil {
		return err
	}
	at, badTime := time.ParseInLocation(time.DateTime, q.Get("timestamp"), time.FixedZone("UTC+8", 8*60*60))
	text := signedText(q)
	switch {
	case q.Get("app_id") != alipayID: // whose key to answer with is not known
		return f.alipayRefuse(w, false, "error_response", "40002", "isv.invalid-app-id", "无效的AppID参数")
	case q.Get("sign_type") != "RSA2" || !f.signedByApplication(text, q.Get("sign")):
		return f.alipayRefuse(w, false, "error_response", "40002", "isv.invalid-signature", "验签出错，网关生成的验签字符串为："+text)
	case badTime != nil || time.Since(at).Abs() > 15*time.Minute:
		return f.alipayRefuse(w, true, "error_response", "40002", "isv.invalid-timestamp", "非法的时间戳参数")
	}
	switch q.Get("method") {
	case "alipay.system.oauth.token":
		return f.alipayToken(w, q)
	case "alipay.user.info.share":
		return f.alipayUser(w, q)
	}
	return f.alipayRefuse(w, true, "error_response", "40002", "isv.invalid-method", "不存在的方法名")
}

func (f *Fake) alipayToken(w http.ResponseWriter, q url.Values) error {
	if q.Get("grant_type") != "authorization_code" {
		return f.alipayRefuse(w, true, "error_response", "40002", "isv.grant-type-invalid", "grant_type参数不正确")
	}
	token, g, v := f.issuer.redeem("alipay", q.Get("code"))
	if v != valid {
		return f.alipayRefuse(w, true, "error_response", "40002", "isv.code-invalid", "授权码code无效")
	}
	return f.alipayRespond(w, "alipay_system_oauth_token_response", true, object{
		"access_token": token, "auth_start": time.Now().Format(time.DateTime), "expires_in": 1296000,
		"re_expires_in": 2592000,
		"refresh_token": "R" + token, "open_id": g.openID(),
	}.fill(object{"user_id": g.unionID()}))
}

func (f *Fake) alipayUser(w http.ResponseWriter, q url.Values) error {
	const member = "alipay_user_info_share_response"
	g, ok := f.issuer.holder("alipay", q.Get("auth_token"))
	if !ok {
		return f.alipayRefuse(w, true, member, "20001", "aop.invalid-auth-token", "无效的访问令牌")
	}
	o := object{"code": "10000", "msg": "Success", "open_id": g.openID()}.fill(object{"user_id": g.unionID()})
	if g.user.gender != "" { // a user without a profile has none of these members
		o.fill(object{
			"nick_name": g.user.Name, "avatar": f.faceOf(g.user), "gender": g.user.genderAs("M", "F", ""),
			"province": g.user.place[1], "city": g.user.place[2],
		})
	}
	return f.alipayRespond(w, member, true, o)
}

func (f *Fake) alipayRefuse(w http.ResponseWriter, signed bool, member, code, sub, msg string) error {
	return f.alipayRespond(w, member, signed, object{"code": code, "msg": "Invalid Arguments", "sub_code": sub,
		"sub_msg": msg})
}

// alipayRespond signs the bytes of the member as they are sent.
func (f *Fake) alipayRespond(w http.ResponseWriter, member string, signed bool, o object) error {
	text := encode(o)
	body := `{"` + member + `":` + text
	if signed {
		sum := sha256.Sum256([]byte(text))
		sign, err := rsa.SignPKCS1v15(rand.Reader, f.gateway, crypto.SHA256, sum[:])
		if err != nil {
			return err
		}
		body += `,"sign":"` + base64.StdEncoding.EncodeToString(sign) + `"`
	}
	return respond(w, "text/html;charset=utf-8", body+"}")
}

func (f *Fake) signedByApplication(text, sign string) bool {
	raw, err := base64.StdEncoding.DecodeString(sign)
	sum := sha256.Sum256([]byte(text))
	return err == nil && rsa.VerifyPKCS1v15(&f.application.PublicKey, crypto.SHA256, sum[:], raw) == nil
}

// signedText is written independently of the connector's, so that the two check each other.
func signedText(q url.Values) string {
	var pairs []string
	for name := range q {
		if name != "sign" && q.Get(name) != "" {
			pairs = append(pairs, name)
		}
	}
	sort.Strings(pairs)
	for i, name := range pairs {
		pairs[i] = name + "=" + q.Get(name)
	}
	return strings.Join(pairs, "&")
}
