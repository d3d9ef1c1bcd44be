package storage

import "time"

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
}
