package oauth_test

import (
	"encoding/json"
	"net/http"
	"strings"
)

// floorForm does what any token endpoint does: read a form, write JSON.
func floorForm(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.PostForm.Get("client_secret") == "" {
		http.Error(w, "no form", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"code": 0, "msg": "success", "access_token": floorToken, "token_type": "Bearer", "expires_in": 604800, "scope": "app",
	})
}

var floorToken = strings.Repeat("x", 600)

// floorJSON answers with the same claims, from a struct.
func floorJSON(answer []byte) http.HandlerFunc {
	var claims struct {
		Sub           string `json:"sub"`
		UserID        int64  `json:"user_id"`
		Name          string `json:"name"`
		Nickname      string `json:"nickname"`
		Username      string `json:"preferred_username"`
		Picture       string `json:"picture"`
		Gender        string `json:"gender"`
		Location      string `json:"location"`
		Email         string `json:"email"`
		EmailVerified bool   `json:"email_verified"`
		LoginType     string `json:"login_type"`
		UpdatedAt     int64  `json:"updated_at"`
		Issuer        string `json:"iss"`
	}
	if err := json.Unmarshal(answer, &claims); err != nil {
		panic(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(claims)
	}
}

func static(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}
}
