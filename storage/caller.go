package storage

import "time"

// Caller is whoever a valid access token speaks for.
type Caller struct {
	AppID     string    // client_id
	UserID    string    // the user's sub; "" for an application acting for itself
	Scope     string    // space-separated
	Audience  string    // aud
	TokenID   string    // jti
	Grant     string    // gid
	GrantedAt time.Time // read from Grant
	ExpiresAt time.Time
}
