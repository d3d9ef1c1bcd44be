package service

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// SettingUserWebhook holds the URL that user events are sent to.
const SettingUserWebhook = "webhooks.users.url"

// userWebhookKey is the name of the key that signs them.
const userWebhookKey = SettingUserWebhook

// UserWebhook returns where user events are sent, and the secret that they are signed with. Without a URL
// nothing is sent, and what happens is not stored to be sent later.
func (s *Store) UserWebhook(ctx context.Context) (url string, secret secret.Secret, err error) {
	if url, err = s.Setting(ctx, SettingUserWebhook); err != nil || url == "" {
		return "", secret, err
	}
	k, err := document.Get(ctx, s.docs, hmacKeys, userWebhookKey)
	return url, k.Key, err
}

// SetUserWebhook changes where user events are sent; "" for nowhere. The caller has checked the URL. The
// secret is drawn with the first URL, and anew if renew is true; it is returned if it was drawn now. What
// waits is sent to the new URL, signed with the new secret; with no URL it is given up.
func (s *Store) SetUserWebhook(ctx context.Context, url string, renew bool) (drawn secret.Secret, err error) {
	if url == "" {
		return drawn, s.Set(ctx, SettingUserWebhook, "")
	}
	if err := document.RequireFeature(ctx, s.docs, document.Outgoing); err != nil {
		return drawn, err
	}
	_, err = document.Update(ctx, s.docs, hmacKeys, userWebhookKey, func(k *hmacKey) bool {
		drawn = secret.Secret{}
		if k.Version != 0 && !renew {
			return false
		}
		raw := make([]byte, 32)
		rand.Read(raw)
		drawn = secret.New("whsec_" + base64.StdEncoding.EncodeToString(raw))
		k.Name, k.CreatedAt, k.Key = userWebhookKey, time.Now().UTC(), drawn
		return true
	})
	if err != nil {
		return secret.Secret{}, err
	}
	return drawn, s.Set(ctx, SettingUserWebhook, url)
}
