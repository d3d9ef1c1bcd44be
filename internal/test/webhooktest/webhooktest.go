// Package webhooktest checks messages of webhooks as their receivers do (Standard Webhooks). It shares no code with
// what signs them.
package webhooktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verify returns an error unless a message was signed with a secret, whsec_<base64> or a text, within five minutes.
func Verify(secret string, h http.Header, payload []byte) error {
	id, stamp := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute || id == "" {
		return fmt.Errorf("the id %q or the timestamp %q is wrong", id, stamp)
	}
	key := []byte(secret)
	if encoded, is := strings.CutPrefix(secret, "whsec_"); is {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return err
		}
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, payload)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if got := strings.Fields(h.Get("webhook-signature")); !slices.Contains(got, want) {
		return fmt.Errorf("the signature is %v, want %s", got, want)
	}
	return nil
}
