package factor

import (
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/typedcode"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

const (
	recoveryCodes = 10
	recoveryLen   = 16 // letters, of 5 bits each: too many to guess a hash of
)

// DrawRecovery draws recovery codes: as they are shown once, and as they are kept.
func DrawRecovery() (shown []string, kept []authn.RecoveryCode) {
	for range recoveryCodes {
		code := rand.Text()[:recoveryLen]
		var parts []string
		for part := range slices.Chunk([]byte(code), 4) {
			parts = append(parts, string(part))
		}
		shown = append(shown, strings.Join(parts, "-"))
		kept = append(kept, authn.RecoveryCode{Hash: handle.Hash(code)})
	}
	return shown, kept
}

// typedRecovery returns the code in what a person has typed. The digits that rand.Text does not use are taken for the
// letters that they look like.
func typedRecovery(text string) string { return lookalikes.Replace(typedcode.Read(text)) }

var lookalikes = strings.NewReplacer("0", "O", "1", "I", "8", "B")

// useRecovery uses a recovery code up, or returns storage.ErrNotFound.
func useRecovery(f *storage.Factors, typed string, now time.Time) error {
	hash, found := handle.Hash(typedRecovery(typed)), -1
	for i, c := range f.Recovery {
		if subtle.ConstantTimeCompare([]byte(c.Hash), []byte(hash)) == 1 && c.UsedAt.IsZero() {
			found = i
		}
	}
	if found < 0 {
		return storage.ErrNotFound
	}
	f.Recovery = slices.Clone(f.Recovery)
	f.Recovery[found].UsedAt = now
	return nil
}

// FewCodes reports whether a user who has a second factor has so few recovery codes left that they are warned.
func FewCodes(f storage.Factors) bool { return f.Any() && f.CodesLeft() <= 3 }
