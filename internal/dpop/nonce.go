package dpop

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"sync/atomic"
	"time"
)

const (
	nonceLife  = 5 * time.Minute
	nonceRenew = time.Minute // the age at which a client is given the next one

	// nonceAhead bounds how far ahead of this one the clock of the node may be that has made a nonce: each of the two may
	// be a minute off the clock of the store that they share (decision 99).
	nonceAhead = 2 * time.Minute

	nonceText = 8 + 16 // bytes: the time, and the beginning of its HMAC
)

// nonces makes and reads nonces. A nonce is the time at which it was made and an HMAC of that, so that none is stored.
type nonces struct {
	key  func(context.Context) ([]byte, error)
	last atomic.Pointer[nonce]
}

type nonce struct {
	text string
	at   time.Time
}

// drawnKey returns a key that this process alone has.
func drawnKey() func(context.Context) ([]byte, error) {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	return func(context.Context) ([]byte, error) { return key, nil }
}

// fresh returns a nonce, the same one for a second.
func (n *nonces) fresh(ctx context.Context, now time.Time) (string, error) {
	if last := n.last.Load(); last != nil && now.Sub(last.at).Abs() < time.Second {
		return last.text, nil
	}
	var b [nonceText]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli()))
	mac, err := n.mac(ctx, b[:8])
	if err != nil {
		return "", err
	}
	copy(b[8:], mac)
	made := &nonce{base64.RawURLEncoding.EncodeToString(b[:]), time.UnixMilli(now.UnixMilli())}
	n.last.Store(made)
	return made.text, nil
}

// read returns when a nonce was made; false: it is none of ours, or of another time.
func (n *nonces) read(ctx context.Context, text string, now time.Time) (at time.Time, ok bool, err error) {
	if last := n.last.Load(); last != nil && last.text == text {
		at = last.at
	} else {
		b, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil || len(b) != nonceText {
			return at, false, nil
		}
		mac, err := n.mac(ctx, b[:8])
		if err != nil {
			return at, false, err
		}
		if !hmac.Equal(mac, b[8:]) {
			return at, false, nil
		}
		at = time.UnixMilli(int64(binary.BigEndian.Uint64(b[:8])))
	}
	return at, now.Sub(at) < nonceLife && at.Sub(now) <= nonceAhead, nil
}

func (n *nonces) mac(ctx context.Context, text []byte) ([]byte, error) {
	key, err := n.key(ctx)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)[:nonceText-8], nil
}
