package fake

import "net/http"

func douyinRefuse(w http.ResponseWriter, code int, msg string) error {
	return respond(w, "application/json", encode(object{
		"data": object{"error_code": code, "description": msg}, "extra": object{"logid": "fake", "now": 0},
		"message": "error",
	}))
}

func (f *Fake) douyinToken(w http.ResponseWriter, r *http.Request) error {
	q, err := readForm(w, r)
	switch {
	case err != nil:
		return err
	case q.Get("client_key") != douyinID:
		return douyinRefuse(w, 10003, "client_key错误")
	case !f.authenticates(q, "client_key", douyinID, "client_secret"):
		return douyinRefuse(w, 10013, "client_key或者client_secret报错")
	case q.Get("grant_type") != "authorization_code":
		return douyinRefuse(w, 10002, "参数错误")
	}
	token, g, v := f.issuer.redeem("douyin", q.Get("code"))
	if v != valid {
		return douyinRefuse(w, 10007, "授权码过期")
	}
	return respond(w, "application/json", encode(object{"message": "<nil>", "data": object{
		"access_token": token, "description": "", "error_code": "0", "expires_in": "1296000", "open_id": g.openID(),
		"refresh_expires_in": "2592000", "refresh_token": "R" + token, "scope": "user_info",
	}}))
}

func (f *Fake) douyinUser(w http.ResponseWriter, r *http.Request) error {
	q, err := readForm(w, r)
	if err != nil {
		return err
	}
	g, ok := f.issuer.holder("douyin", q.Get("access_token"))
	switch {
	case !ok || r.Header.Get("Access-Token") != q.Get("access_token"):
		return douyinRefuse(w, 28001003, "access_token无效")
	case q.Get("open_id") != g.openID():
		return douyinRefuse(w, 28001007, "参数不合法")
	}
	return respond(w, "application/json", encode(object{"err_no": 0, "err_msg": "", "log_id": "fake", "data": object{
		"open_id": g.openID(), "union_id": g.unionID(), "nickname": g.user.Name, "avatar": f.faceOf(g.user),
		"description": "",
		"gender":      g.user.genderAs(1, 2, 0), "country": "", "province": "", "city": "", "e_account_role": "",
		"error_code": 0,
	}}))
}
