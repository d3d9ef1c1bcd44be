package fake

import (
	"net/http"
	"strings"
)

func wecomRespond(w http.ResponseWriter, o object) error {
	return respond(w, "application/json; charset=UTF-8", encode(object{"errcode": 0, "errmsg": "ok"}.fill(o)))
}

func wecomRefuse(w http.ResponseWriter, code int, msg string) error {
	return wecomRespond(w, object{"errcode": code, "errmsg": msg + ", hint: [fake]"})
}

// wecomToken gives the application its access token, which is no user's.
func (f *Fake) wecomToken(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	switch {
	case q.Get("corpid") != wecomID:
		return wecomRefuse(w, 40013, "invalid corpid")
	case !f.authenticates(q, "corpid", wecomID, "corpsecret"):
		return wecomRefuse(w, 40001, "invalid credential")
	}
	return wecomRespond(w, object{"access_token": f.issuer.application("wecom"), "expires_in": 7200})
}

// wecomWho tells whose a code is: a member by their userid, a stranger by an openid.
func (f *Fake) wecomWho(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if _, ok := f.issuer.holder("wecom", q.Get("access_token")); !ok {
		return wecomRefuse(w, 40014, "invalid access_token")
	}
	_, g, v := f.issuer.redeem("wecom", q.Get("code"))
	switch {
	case v != valid:
		return wecomRefuse(w, 40029, "invalid code")
	case g.user.stranger:
		return wecomRespond(w, object{"openid": g.user.openID("wx")})
	}
	return wecomRespond(w, object{"userid": g.openID()})
}

// wecomUser describes a member; the case of the userid does not count.
func (f *Fake) wecomUser(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	p, known := testUserOf(strings.ToLower(q.Get("userid")))
	_, ok := f.issuer.holder("wecom", q.Get("access_token"))
	switch {
	case !ok:
		return wecomRefuse(w, 40014, "invalid access_token")
	case !known || p.stranger:
		return wecomRefuse(w, 60111, "userid not found")
	}
	return wecomRespond(w, object{
		"userid": p.Key, "name": p.Name, "department": []int{1}, "status": 1, "avatar": f.faceOf(p),
		"gender": p.genderAs("1", "2", "0"),
	})
}
