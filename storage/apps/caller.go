package apps

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/keystile/keystile/storage/client"
)

// Caller is the application, and the user if there is one, that a valid access token stands for.
type Caller struct {
	AppID     string    // client_id
	UserID    string    // the user's sub; "" for an application acting for itself
	Scope     string    // space-separated
	Audience  string    // aud
	TokenID   string    // jti
	Grant     string    // gid
	GrantedAt time.Time // read from Grant
	ExpiresAt time.Time

	// Actors holds those that act for the user by delegation (RFC 8693 4.1, act): client_ids or subs, the one that
	// sends the token first, then those before it, ten at most. nil: AppID alone acts.
	Actors []string
	// Via holds the tokens that it was exchanged for, one after the other, the last one first: it ends with each of them.
	Via []Step
	// KeyThumbprint is of the key that its sender must hold (RFC 9449 6, cnf.jkt); "": whoever has the token may use it.
	KeyThumbprint string
}

// Step is a token that another one was exchanged for.
type Step struct {
	AppID   string // to which it was issued
	TokenID string // jti, or the ID of an API key; "": of an id_token
}

// maxAccount bounds the text that Account returns, in bytes.
const maxAccount = 230

// Account returns what the caller's calls are charged to and rated by: the client_id, or, of an application
// that nobody registered here, of API keys and of the console, the application and its user together (decision 55).
// Many people use such an application who have nothing to do with each other.
func (c Caller) Account() string {
	clientID, sub := c.AppID, c.UserID
	if sub == "" || !client.IsID(clientID) && !isBuiltIn(clientID) {
		return clientID
	}
	account := clientID + " " + sub
	if len(account) > maxAccount { // of a host's own users
		sum := sha256.Sum256([]byte(account))
		account = clientID[:min(len(clientID), maxAccount-1-hex.EncodedLen(16))] + " " + hex.EncodeToString(sum[:16])
	}
	return account
}
