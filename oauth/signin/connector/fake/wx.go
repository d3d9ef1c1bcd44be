package fake

import "net/http"

// wxRespond writes JSON as text/plain, as wx does.
func wxRespond(w http.ResponseWriter, o object) error { return respond(w, "text/plain", encode(o)) }

func wxRefuse(w http.ResponseWriter, code int, msg string) error {
	return wxRespond(w, object{"errcode": code, "errmsg": msg + ", rid: 0-fake"})
}

func (f *Fake) wxToken(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	switch {
	case q.Get("appid") != wxID:
		return wxRefuse(w, 40013, "invalid appid")
	case !f.authenticates(q, "appid", wxID, "secret"):
		return wxRefuse(w, 40125, "invalid appsecret")
	case q.Get("grant_type") != "authorization_code":
		return wxRefuse(w, 40002, "invalid grant_type")
	}
	token, g, v := f.issuer.redeem("wx", q.Get("code"))
	switch v {
	case used:
		return wxRefuse(w, 40163, "code been used")
	case expired:
		return wxRefuse(w, 42003, "code expired")
	case unknown:
		return wxRefuse(w, 40029, "invalid code")
	}
	return wxRespond(w, object{
		"access_token": token, "expires_in": 7200, "refresh_token": "R" + token, "openid": g.openID(),
		"scope": "snsapi_login",
	}.fill(object{"unionid": g.unionID()}))
}

func (f *Fake) wxUser(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	g, ok := f.issuer.holder("wx", q.Get("access_token"))
	switch {
	case !ok:
		return wxRefuse(w, 40001, "invalid credential, access_token is invalid or not latest")
	case q.Get("openid") != g.openID():
		return wxRefuse(w, 40003, "invalid openid")
	}
	return wxRespond(w, object{
		"openid": g.openID(), "nickname": g.user.Name, "sex": g.user.genderAs(1, 2, 0), "language": "",
		"privilege": []string{},
		"country":   g.user.place[0], "province": g.user.place[1], "city": g.user.place[2], "headimgurl": f.faceOf(g.user),
	}.fill(object{"unionid": g.unionID()}))
}
