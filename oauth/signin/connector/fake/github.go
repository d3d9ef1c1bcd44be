package fake

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strings"
)

const githubID = "Iv1.fa4e000000000001"

func githubRefuse(w http.ResponseWriter, code string) error {
	return respondJSON(w, http.StatusOK, object{"error": code, "error_description": "see the documentation of " + code})
}

func (f *Fake) githubToken(w http.ResponseWriter, r *http.Request) error {
	q, err := readForm(w, r)
	if err != nil {
		return err
	}
	if !f.authenticates(q, "client_id", githubID, "client_secret") {
		return githubRefuse(w, "incorrect_client_credentials")
	}
	token, g, v := f.issuer.redeem("github", q.Get("code"))
	switch {
	case v != valid || !g.proves(q.Get("code_verifier")):
		return githubRefuse(w, "bad_verification_code")
	case g.back != q.Get("redirect_uri"):
		return githubRefuse(w, "redirect_uri_mismatch")
	}
	return respondJSON(w, http.StatusOK, object{"access_token": token, "token_type": "bearer", "scope": g.scope})
}

// githubHolder returns the grant of a request's token, and answers where there is none.
func (f *Fake) githubHolder(w http.ResponseWriter, r *http.Request) (grant, bool) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g, ok := f.issuer.holder("github", token)
	if !ok {
		respondJSON(w, http.StatusUnauthorized, object{"message": "Bad credentials"})
	}
	return g, ok
}

func (f *Fake) githubUser(w http.ResponseWriter, r *http.Request) error {
	g, ok := f.githubHolder(w, r)
	if !ok {
		return nil
	}
	return respondJSON(w, http.StatusOK, object{
		"id": binary.BigEndian.Uint32(g.user.digest("github", "id")) >> 1, "login": g.user.Key, "name": g.user.Name,
		"avatar_url": f.faceOf(g.user), "location": strings.Join(g.user.place[1:], " "), "email": nil,
	})
}

func (f *Fake) githubEmails(w http.ResponseWriter, r *http.Request) error {
	g, ok := f.githubHolder(w, r)
	if !ok {
		return nil
	}
	if g.scope != "user:email" {
		return respondJSON(w, http.StatusNotFound, object{"message": "Not Found"})
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode([]object{
		{"email": g.user.Key + "@users.example", "primary": false, "verified": true},
		{"email": g.user.email(), "primary": true, "verified": g.user.verified()},
	})
}
