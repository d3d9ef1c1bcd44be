package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/storage"
)

// KnownCookie is the cookie that marks the users who have signed in with this browser within a
// year (decision 56). It grants no access. Each of its marks is a salt and a keyed hash of the
// user and the month: it reveals no user, cannot be forged, and differs between two browsers.
const KnownCookie = cookies.Known

const (
	knownUsers  = 5  // in one browser; the latest
	knownMonths = 12 // that a mark is good for, beside the one it was made in
	knownLife   = 365 * 24 * time.Hour

	saltLen = 8
	markLen = saltLen + 16 // bytes
)

// MarkText is the length of a mark as the cookie holds it.
var MarkText = base64.RawURLEncoding.EncodedLen(markLen)

// Known reports whether a person has signed in as a user (a sub) with this browser before.
// If the key cannot be read now, it reports false.
func (s *Sessions) Known(r *http.Request, sub string) bool {
	marks := MarksOf(r)
	if len(marks) == 0 {
		return false
	}
	key, err := s.knownKey(r.Context())
	if err != nil {
		s.Log.WarnContext(r.Context(), "whether a browser is known cannot be told", "err", err)
		return false
	}
	for _, mark := range marks {
		if isMark(key, mark, sub, time.Now()) {
			return true
		}
	}
	return false
}

// Remember marks the browser as one in which a user has signed in. If that fails, the browser is
// unknown the next time, and the sign-in goes on.
func (s *Sessions) Remember(w http.ResponseWriter, r *http.Request, sub string) {
	key, err := s.knownKey(r.Context())
	if err != nil {
		s.Log.WarnContext(r.Context(), "a browser cannot be remembered", "err", err)
		return
	}
	now := time.Now()
	all := base64.RawURLEncoding.EncodeToString(drawMark(key, sub, now))
	kept := 1
	for _, mark := range MarksOf(r) {
		if kept < knownUsers && !isMark(key, mark, sub, now) {
			all += "." + base64.RawURLEncoding.EncodeToString(mark)
			kept++
		}
	}
	http.SetCookie(w, &http.Cookie{
		Name: KnownCookie, Value: all, Path: "/oauth", MaxAge: int(knownLife / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// knownKey returns the key of the marks, the same in every process.
func (s *Sessions) knownKey(ctx context.Context) (storage.Secret, error) {
	if key := s.marks.Load(); key != nil {
		return *key, nil
	}
	key, err := s.Store.HMACKey(ctx, "known browsers")
	if err != nil {
		return key, err
	}
	s.marks.Store(&key)
	return key, nil
}

// MarksOf returns the marks of a request. Several cookies are read: one that a neighbouring site
// has set proves nothing, and must not make a browser unknown.
func MarksOf(r *http.Request) (marks [][]byte) {
	for _, c := range r.CookiesNamed(KnownCookie) {
		for text := range strings.SplitSeq(c.Value, ".") {
			raw, err := base64.RawURLEncoding.DecodeString(text)
			if len(text) == MarkText && err == nil && len(marks) < 4*knownUsers {
				marks = append(marks, raw)
			}
		}
	}
	return marks
}

func drawMark(key storage.Secret, sub string, now time.Time) []byte {
	salt := make([]byte, saltLen)
	rand.Read(salt)
	return append(salt, markOf(key, salt, sub, monthOf(now))...)
}

func isMark(key storage.Secret, mark []byte, sub string, now time.Time) bool {
	good := false
	for ago := range knownMonths + 1 {
		good = hmac.Equal(mark[saltLen:], markOf(key, mark[:saltLen], sub, monthOf(now)-ago)) || good
	}
	return good
}

func markOf(key storage.Secret, salt []byte, sub string, month int) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	fmt.Fprintf(mac, "%x %d %s", salt, month, sub)
	return mac.Sum(nil)[:markLen-saltLen]
}

// monthOf numbers the months.
func monthOf(at time.Time) int { return at.UTC().Year()*12 + int(at.UTC().Month()) }

// Familiar reports whether a user has signed in with this browser before, by its mark or by a live
// session.
func (s *Sessions) Familiar(r *http.Request, sub string) bool {
	if s.Known(r, sub) {
		return true
	}
	v, err := s.session(r)
	return err == nil && v.UserID == sub
}
