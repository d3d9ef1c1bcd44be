package passkey

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// The ceremonies. A challenge of one is none of another.
const (
	signingIn = "sign in"
	second    = "second factor"
	adding    = "add"
)

const (
	kind         = "passkey" // of the tickets of used challenges
	life         = 10 * time.Minute
	nonceLen     = 16
	endLen       = 8
	challengeLen = nonceLen + endLen + sha256.Size
)

// errRefused says that an answer proves nothing. The reason is only logged.
var errRefused = fmt.Errorf("signin: the passkey was refused: %w", storage.ErrNotFound)

// draw returns a challenge of a ceremony that only one may answer: a browser, or a session.
func (s *Passkeys) draw(ctx context.Context, ceremony, who string) (protocol.URLEncodedBase64, error) {
	key, err := s.key(ctx)
	if err != nil {
		return nil, err
	}
	drawn := make([]byte, nonceLen, challengeLen)
	rand.Read(drawn)
	drawn = binary.BigEndian.AppendUint64(drawn, uint64(time.Now().Add(life).Unix()))
	return append(drawn, macOf(key, drawn, ceremony, who)...), nil
}

// ours returns why a challenge (base64url, as the browser has signed it) is not to be answered here and now.
func (s *Passkeys) ours(ctx context.Context, challenge, ceremony, who string) error {
	key, err := s.key(ctx)
	if err != nil {
		return err
	}
	raw, err := base64.RawURLEncoding.DecodeString(challenge)
	if err != nil || len(raw) != challengeLen || who == "" {
		return fmt.Errorf("%w: no challenge of ours", errRefused)
	}
	head := raw[:nonceLen+endLen]
	left := time.Until(time.Unix(int64(binary.BigEndian.Uint64(head[nonceLen:])), 0))
	if !hmac.Equal(raw[nonceLen+endLen:], macOf(key, head, ceremony, who)) || left <= 0 || left > life {
		return fmt.Errorf("%w: the challenge is another's, or has ended", errRefused)
	}
	return nil
}

// use uses a challenge up, once in all processes.
func (s *Passkeys) use(ctx context.Context, challenge, sub string) error {
	now := time.Now().UTC()
	_, err := s.Store.SaveTicket(ctx, storage.Ticket{
		ID: handle.Hash(kind + ":" + challenge), Kind: kind, UserID: sub, CreatedAt: now, ExpiresAt: now.Add(life),
	})
	if errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrConflict) {
		return fmt.Errorf("%w: the challenge was answered before", errRefused)
	}
	return err
}

// key returns the key of the challenges, the same in every process.
func (s *Passkeys) key(ctx context.Context) (storage.Secret, error) {
	if key := s.challenges.Load(); key != nil {
		return *key, nil
	}
	key, err := s.Store.HMACKey(ctx, "passkey challenges")
	if err == nil {
		s.challenges.Store(&key)
	}
	return key, err
}

func macOf(key storage.Secret, head []byte, ceremony, who string) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	fmt.Fprintf(mac, "%x %q %q", head, ceremony, who)
	return mac.Sum(nil)
}
