package main

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// The measured token is the one that Keystile gives too: a JWT by ES256, for a client that knows the secret.
func TestProviderGivesTokensToItsApplicationAlone(t *testing.T) {
	h, err := handler()
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]int{secret: 200, "wrong": 401} {
		r := httptest.NewRequest("POST", "http://127.0.0.1:9/token",
			strings.NewReader("grant_type=client_credentials&client_id=peer&scope=app&client_secret="+given))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var answer struct {
			Token string `json:"access_token"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != want || want == 200 &&
			strings.Count(answer.Token, ".") != 2 {
			t.Errorf("with the secret %q: %d %s, want %d", given, w.Code, w.Body, want)
		}
	}
}
