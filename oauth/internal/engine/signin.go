package engine

import (
	"encoding/json"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
)

// SignIn holds what a code and the refresh tokens after it say of how their user signed in, beside the
// time and the login type. The zero value is that of a sign-in of which an application learns no more.
type SignIn struct {
	AMR string `json:"amr,omitempty"` // RFC 8176, separated by spaces
	ACR string `json:"acr,omitempty"` // OpenID Connect Core 2
	SID string `json:"sid,omitempty"` // OpenID Connect Back-Channel Logout 2.1
}

// luggage holds what a driver.Token keeps for the engine alone, in its SignIn.
type luggage struct {
	SignIn
	Key string `json:"jkt,omitempty"` // the thumbprint of the key that must be proved to use it; "": none
}

// text returns it as a driver.Token keeps it: "" for the zero value.
func (l luggage) text() string {
	if l == (luggage{}) {
		return ""
	}
	text, _ := json.Marshal(l) // texts only
	return string(text)
}

// luggageOf reads what text has written.
func luggageOf(text string) (l luggage, err error) {
	if text == "" {
		return l, nil
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("what belongs to a grant is not readable: %w", err)
	}
	return l, nil
}

// KeyOf returns the thumbprint of the key that a code or refresh token is bound to; "": none.
func KeyOf(t driver.Token) (string, error) {
	l, err := luggageOf(t.SignIn)
	return l.Key, err
}
