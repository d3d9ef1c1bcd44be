package device

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// The request of a device is a ticket of this kind. Its ID is the hash of the device_code, its
// Subject the code that the user types, its Query the scope that is asked for and the one that was
// allowed.
const kind = "device"

// The states of such a ticket. The request that takes it from pending to another state has decided:
// its Version lets one request do so.
const (
	pending = "pending"
	allowed = "allowed"
	denied  = "denied"
)

// keptAfter keeps the record of a redeemed device_code beyond the life of the code, so that no
// process whose clock is behind finds the ticket alive and the record gone.
const keptAfter = 30 * time.Minute

// The letters of a code that users type: no vowels, so that no words come up, and no digits.
const letters = web.UserCodeLetters

// newUserCode draws a code of 8 letters, written as XXXX-XXXX: one of 20^8, or 2.56 * 10^10.
func newUserCode() string {
	code := make([]byte, 0, 9)
	for len(code) < 9 {
		if len(code) == 4 {
			code = append(code, '-')
		}
		var b [1]byte
		rand.Read(b[:])
		if b[0] < 240 { // 12 * 20, so that each letter is as likely
			code = append(code, letters[b[0]%20])
		}
	}
	return string(code)
}

// request holds what is asked for on a device and what a user has allowed of it.
type request struct {
	scope    string // that was asked for
	resource string // RFC 8707

	// Once it is allowed:
	granted  string // the scope
	grant    string // the id of the grant, which carries its time
	authTime time.Time
}

func (q request) String() string {
	v := url.Values{"scope": {q.scope}, "resource": {q.resource}}
	if q.grant != "" {
		v.Set("granted", q.granted)
		v.Set("grant", q.grant)
		v.Set("auth_time", q.authTime.UTC().Format(time.RFC3339Nano))
	}
	return v.Encode()
}

func requestOf(t storage.Ticket) request {
	v, _ := url.ParseQuery(t.Query) // String has written it
	at, _ := time.Parse(time.RFC3339Nano, v.Get("auth_time"))
	return request{scope: v.Get("scope"), resource: v.Get("resource"), granted: v.Get("granted"), grant: v.Get("grant"),
		authTime: at}
}

// tokenOf returns the record by which an allowed device_code is redeemed.
func tokenOf(t storage.Ticket, deviceCode string) driver.Token {
	q := requestOf(t)
	return driver.Token{
		Key: handle.KeyOf(deviceCode), Kind: driver.KindDevice, Grant: q.grant, GrantedAt: handle.GrantTime(q.grant),
		AppID: t.AppID, UserID: t.UserID, Scope: q.granted, Resource: q.resource, AuthTime: q.authTime,
		LoginType: t.LoginType,
		IssuedAt:  t.CreatedAt, ExpiresAt: t.CreatedAt.Add(limits.DeviceLife + keptAfter), IP: t.IP,
	}
}

func isTicketID(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 32 && strings.ToLower(id) == id
}

// now returns the time as tickets keep it.
func now() time.Time { return time.Now().UTC().Round(0) }
