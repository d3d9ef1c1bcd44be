package fake

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// feishuRefuse refuses at the token endpoint, as OAuth writes it.
func feishuRefuse(w http.ResponseWriter, code int, kind, msg string) error {
	return respondWith(w, http.StatusBadRequest, "application/json; charset=utf-8",
		encode(object{"code": code, "error": kind, "error_description": msg}))
}

func (f *Fake) feishuToken(w http.ResponseWriter, r *http.Request) error {
	q, err := readJSON(w, r)
	switch {
	case err != nil:
		return err
	case q.Get("client_id") != feishuID:
		return feishuRefuse(w, 20048, "invalid_client", "The app does not exist.")
	case !f.authenticates(q, "client_id", feishuID, "client_secret"):
		return feishuRefuse(w, 20002, "invalid_client", "The client secret is invalid.")
	case q.Get("grant_type") != "authorization_code":
		return feishuRefuse(w, 20036, "unsupported_grant_type", "The grant_type is not supported.")
	}
	challenge := sha256.Sum256([]byte(q.Get("code_verifier")))
	g, known := f.issuer.granted("feishu", q.Get("code"))
	switch {
	case known && q.Get("redirect_uri") != g.back:
		return feishuRefuse(w, 20071, "invalid_grant", "The redirect URI does not match.")
	case known && g.challenge != base64.RawURLEncoding.EncodeToString(challenge[:]):
		return feishuRefuse(w, 20049, "invalid_grant", "PKCE code challenge failed.")
	}
	token, _, v := f.issuer.redeem("feishu", q.Get("code"))
	switch v {
	case used:
		return feishuRefuse(w, 20065, "invalid_grant", "The authorization code has been used.")
	case expired:
		return feishuRefuse(w, 20004, "invalid_grant", "The authorization code has expired.")
	case unknown:
		return feishuRefuse(w, 20003, "invalid_grant", "The authorization code is invalid.")
	}
	return respond(w, "application/json; charset=utf-8", encode(object{
		"code": 0, "access_token": token, "expires_in": 7200, "token_type": "Bearer", "scope": "auth:user.id:read",
	}))
}

func (f *Fake) feishuUser(w http.ResponseWriter, r *http.Request) error {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g, ok := f.issuer.holder("feishu", token)
	if !ok {
		return respondWith(w, http.StatusUnauthorized, "application/json; charset=utf-8",
			encode(object{"code": 20005, "msg": "The user access token passed is invalid."}))
	}
	return respond(w, "application/json; charset=utf-8", encode(object{"code": 0, "msg": "success", "data": object{
		"name": g.user.Name, "en_name": g.user.Name, "avatar_url": f.faceOf(g.user), "open_id": g.openID(),
		"tenant_key": "fake",
	}.fill(object{"union_id": g.unionID()})}))
}
