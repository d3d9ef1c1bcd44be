package fake

import (
	"net/http"
	"net/url"
)

// qqRespond writes JSONP as text/html, as qq does.
func qqRespond(w http.ResponseWriter, o object) error {
	return respond(w, "text/html", "callback( "+encode(o)+" );\n")
}

func qqRefuse(w http.ResponseWriter, code int, msg string) error {
	return qqRespond(w, object{"error": code, "error_description": msg})
}

func (f *Fake) qqToken(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	switch {
	case q.Get("client_id") != qqID:
		return qqRefuse(w, 100008, "client_id does not exist")
	case !f.authenticates(q, "client_id", qqID, "client_secret"):
		return qqRefuse(w, 100009, "client_secret is illegal")
	case q.Get("grant_type") != "authorization_code":
		return qqRefuse(w, 100004, "grant_type is illegal")
	case !f.isOurs(q.Get("redirect_uri")):
		return qqRefuse(w, 100010, "redirect uri is illegal")
	}
	token, g, v := f.issuer.redeem("qq", q.Get("code"))
	switch {
	case v == used:
		return qqRefuse(w, 100020, "code is reused error")
	case v != valid:
		return qqRefuse(w, 100019, "code to access token error")
	case q.Get("redirect_uri") != g.back:
		return qqRefuse(w, 100010, "redirect uri is illegal")
	case q.Get("fmt") != "json":
		return respond(w, "text/html", url.Values{"access_token": {token}, "expires_in": {"7776000"},
			"refresh_token": {"R" + token}}.Encode())
	}
	o := object{"access_token": token, "expires_in": "7776000", "refresh_token": "R" + token}
	if q.Get("need_openid") == "1" {
		o["openid"] = g.openID()
	}
	return respond(w, "text/html", encode(o))
}

func (f *Fake) qqMe(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	g, ok := f.issuer.holder("qq", q.Get("access_token"))
	o := object{"client_id": qqID, "openid": g.user.openID("qq")}
	switch {
	case !ok:
		return qqRefuse(w, 100016, "access token check failed")
	case q.Get("unionid") != "1":
	case g.unionID() == "":
		return qqRefuse(w, 100048, "companyid not set")
	default:
		o["unionid"] = g.unionID()
	}
	return qqRespond(w, o)
}

func (f *Fake) qqUser(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	g, ok := f.issuer.holder("qq", q.Get("access_token"))
	refuse := func(ret int, msg string) error {
		return respond(w, "text/html", encode(object{"ret": ret, "msg": msg}))
	}
	switch {
	case !ok:
		return refuse(-23, "token is invalid")
	case q.Get("openid") != g.openID() || q.Get("oauth_consumer_key") != qqID:
		return refuse(-22, "openid is invalid")
	}
	return respond(w, "text/html; charset=utf-8", encode(object{
		"ret": 0, "msg": "", "is_lost": 0, "nickname": g.user.Name, "gender": g.user.genderAs("男", "女", ""),
		"province": g.user.place[1], "city": g.user.place[2], "year": "1990",
		"figureurl_qq_1": f.faceOf(g.user) + "?s=40", "figureurl_qq_2": f.faceOf(g.user) + "?s=100",
		"figureurl_qq": f.faceOf(g.user) + "?s=640",
	}))
}
