package fake

import "net/http"

func dingtalkRefuse(w http.ResponseWriter, status int, code, msg string) error {
	return respondWith(w, status, "application/json;charset=utf-8",
		encode(object{"code": code, "requestid": "fake", "message": msg}))
}

func (f *Fake) dingtalkToken(w http.ResponseWriter, r *http.Request) error {
	q, err := readJSON(w, r)
	switch {
	case err != nil:
		return err
	case !f.authenticates(q, "clientId", dingtalkID, "clientSecret"):
		return dingtalkRefuse(w, http.StatusBadRequest, "invalidClientIdOrSecret", "无效的clientId或者clientSecret")
	case q.Get("grantType") != "authorization_code":
		return dingtalkRefuse(w, http.StatusBadRequest, "invalidParameter.grantType", "不合法的grantType")
	}
	token, _, v := f.issuer.redeem("dingtalk", q.Get("code"))
	if v != valid {
		return dingtalkRefuse(w, http.StatusBadRequest, "invalidParameter.authCode.notFound", "不合法的临时授权码")
	}
	return respond(w, "application/json;charset=utf-8",
		encode(object{"accessToken": token, "refreshToken": "R" + token, "expireIn": 7200}))
}

func (f *Fake) dingtalkUser(w http.ResponseWriter, r *http.Request) error {
	g, ok := f.issuer.holder("dingtalk", r.Header.Get("X-Acs-Dingtalk-Access-Token"))
	if !ok {
		return dingtalkRefuse(w, http.StatusUnauthorized, "InvalidAuthentication", "不合法的access_token")
	}
	return respond(w, "application/json;charset=utf-8", encode(object{
		"nick": g.user.Name, "avatarUrl": f.faceOf(g.user), "openId": g.openID(), "stateCode": "86",
	}.fill(object{"unionId": g.unionID()})))
}
