package factor

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// TrustedCookie is the cookie that spares a browser the second factor for thirty days. Each of its marks is
// a salt, an end and a keyed hash of both, the user and the epoch of their factors: it reveals no
// user and cannot be forged.
const TrustedCookie = cookies.Trusted

const (
	trustLife    = 30 * 24 * time.Hour
	trustedUsers = 5 // in one browser; the latest
	saltLen      = 8
	endLen       = 8
	macLen       = 16
	trustLen     = saltLen + endLen + macLen
)

// trusted reports whether the browser of a request is trusted by a user. If the key cannot be read now, it
// is not.
func (s *Factors) trusted(r *http.Request, f storage.Factors) bool {
	marks := marksOf(r)
	if len(marks) == 0 {
		return false
	}
	key, err := s.trustKey(r.Context())
	if err != nil {
		s.Log.WarnContext(r.Context(), "whether a browser is trusted cannot be told", "err", err)
		return false
	}
	good := false
	for _, mark := range marks {
		good = isTrusted(key, mark, f, time.Now()) || good
	}
	return good
}

// trust marks the browser as trusted by a user. If that fails, the user is asked again the next time.
func (s *Factors) trust(w http.ResponseWriter, r *http.Request, f storage.Factors) {
	key, err := s.trustKey(r.Context())
	if err != nil {
		s.Log.WarnContext(r.Context(), "a browser cannot be trusted", "err", err)
		return
	}
	now := time.Now()
	mark := make([]byte, saltLen, trustLen)
	rand.Read(mark)
	mark = binary.BigEndian.AppendUint64(mark, uint64(now.Add(trustLife).Unix()))
	all := []string{base64.RawURLEncoding.EncodeToString(append(mark, macOf(key, mark, f)...))}
	for _, old := range marksOf(r) {
		if len(all) < trustedUsers && !isTrusted(key, old, f, now) {
			all = append(all, base64.RawURLEncoding.EncodeToString(old))
		}
	}
	http.SetCookie(w, &http.Cookie{
		Name: TrustedCookie, Value: strings.Join(all, "."), Path: web.FormPath, MaxAge: int(trustLife / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// trustKey returns the key of the marks, the same in every process.
func (s *Factors) trustKey(ctx context.Context) (storage.Secret, error) {
	if key := s.marks.Load(); key != nil {
		return *key, nil
	}
	key, err := s.Store.HMACKey(ctx, "trusted browsers")
	if err == nil {
		s.marks.Store(&key)
	}
	return key, err
}

// marksOf returns the marks of a request. Several cookies are read: what a neighbouring site has set
// proves nothing.
func marksOf(r *http.Request) (marks [][]byte) {
	for _, c := range r.CookiesNamed(TrustedCookie) {
		for text := range strings.SplitSeq(c.Value, ".") {
			raw, err := base64.RawURLEncoding.DecodeString(text)
			if err == nil && len(raw) == trustLen && len(marks) < 4*trustedUsers {
				marks = append(marks, raw)
			}
		}
	}
	return marks
}

func isTrusted(key storage.Secret, mark []byte, f storage.Factors, now time.Time) bool {
	left := time.Unix(int64(binary.BigEndian.Uint64(mark[saltLen:])), 0).Sub(now)
	genuine := hmac.Equal(mark[saltLen+endLen:], macOf(key, mark[:saltLen+endLen], f))
	return genuine && left > 0 && left <= trustLife
}

func macOf(key storage.Secret, mark []byte, f storage.Factors) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	fmt.Fprintf(mac, "%x %d %s", mark[:saltLen+endLen], f.Epoch, f.UserID)
	return mac.Sum(nil)[:macLen]
}
