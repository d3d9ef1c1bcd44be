package engine

import (
	"encoding/json"
	"fmt"
)

// SignIn holds what a code and the refresh tokens after it say of how their user signed in, beside the
// time and the login type. The zero value is that of a sign-in of which an application learns no more.
type SignIn struct {
	AMR string `json:"amr,omitempty"` // RFC 8176, separated by spaces
	ACR string `json:"acr,omitempty"` // OpenID Connect Core 2
	SID string `json:"sid,omitempty"` // OpenID Connect Back-Channel Logout 2.1
}

// text returns it as a driver.Token keeps it: "" for the zero value.
func (s SignIn) text() string {
	if s == (SignIn{}) {
		return ""
	}
	text, _ := json.Marshal(s) // texts only
	return string(text)
}

// signInOf reads what text has written.
func signInOf(text string) (s SignIn, err error) {
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("how the user of a grant signed in is not readable: %w", err)
	}
	return s, nil
}
