package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

var spoken = time.Unix(1614265330, 0)

func TestSignatureIsThatOfTheReferenceImplementation(t *testing.T) {
	secret := storage.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := Sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", spoken, []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("Sign() = %s, want %s", got, want)
	}
}

// Computed with: printf 'id1.1614265330.{}' | openssl dgst -sha256 -hmac <secret> -binary | base64
func TestSecretOfAnotherFormIsItsBytes(t *testing.T) {
	for secret, want := range map[string]string{
		"plain text":        "AMnkVS8Tcozh5SGO8M9h7/hC4cMM8gxoZITn7Y7OBVM=",
		"whsec_":            "R62EIrG/AAlfBhfSeCsUN/8vi54lG6dMmChoM/8KqZI=",
		"whsec_not base 64": "HJy71sgtkhl8vKaaIb3p3ZrJ9a2JukjbE4IFOFcGzjc=",
	} {
		if got := Sign(storage.NewSecret(secret), "id1", spoken, []byte("{}")); got != "v1,"+want {
			t.Errorf("Sign(%q) = %s, want v1,%s", secret, got, want)
		}
	}
}

func TestWebhookSignsNothingWithoutASecret(t *testing.T) {
	if got := Sign(storage.Secret{}, "id1", spoken, nil); got != "" {
		t.Errorf("Sign(no secret) = %q, want none", got)
	}
}

// received are the headers of a delivery with the id msg_1.
func received(at time.Time, signature string) http.Header {
	h := http.Header{}
	h.Set("webhook-id", "msg_1")
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", signature)
	return h
}

func TestVerifyTakesWhatWasSignedAndNothingElse(t *testing.T) {
	secret, body := storage.NewSecret("whsec_c2VjcmV0"), []byte(`{"n":1}`)
	good, other := Sign(secret, "msg_1", spoken, body), Sign(storage.NewSecret("other"), "msg_1", spoken, body)
	edit := func(name, value string) http.Header {
		h := received(spoken, good)
		h.Set(name, value)
		return h
	}
	nameless := edit("webhook-id", "")
	nameless.Set("webhook-signature", Sign(secret, "", spoken, body))
	for _, c := range []struct {
		name string
		h    http.Header
		late time.Duration
		want error
	}{
		{"as sent", received(spoken, good), 0, nil},
		{"one of several", received(spoken, "v1a,xx "+other+" "+good), 0, nil},
		{"5 minutes late", received(spoken, good), 5 * time.Minute, nil},
		{"5 minutes early", received(spoken, good), -5 * time.Minute, nil},
		{"later", received(spoken, good), 5*time.Minute + 1, ErrTimestamp},
		{"earlier", received(spoken, good), -5*time.Minute - 1, ErrTimestamp},
		{"another timestamp", received(spoken.Add(time.Second), good), 0, ErrSignature},
		{"the same timestamp, spelled otherwise", edit("webhook-timestamp", "+1614265330"), 0, ErrTimestamp},
		{"no timestamp", edit("webhook-timestamp", ""), 0, ErrTimestamp},
		{"an endless timestamp", edit("webhook-timestamp", "9223372036854775807"), 0, ErrTimestamp},
		{"another id", edit("webhook-id", "msg_2"), 0, ErrSignature},
		{"no id", edit("webhook-id", ""), 0, ErrSignature},
		{"no id, and signed so", nameless, 0, ErrSignature},
		{"another secret", received(spoken, other), 0, ErrSignature},
		{"another version", received(spoken, strings.Replace(good, "v1,", "v2,", 1)), 0, ErrSignature},
		{"no version", received(spoken, strings.TrimPrefix(good, "v1,")), 0, ErrSignature},
		{"a part of it", received(spoken, "v1,"+good[3:7]), 0, ErrSignature},
		{"nothing", received(spoken, "v1,"), 0, ErrSignature},
		{"no signature", received(spoken, ""), 0, ErrSignature},
		{"the 16th", received(spoken, strings.Repeat("x ", 15)+good), 0, nil},
		{"the 17th", received(spoken, strings.Repeat("x ", 16)+good), 0, ErrSignature},
	} {
		if err := Verify(secret, c.h, body, spoken.Add(c.late)); !errors.Is(err, c.want) {
			t.Errorf("%s: Verify() = %v, want %v", c.name, err, c.want)
		}
	}
	if err := Verify(secret, received(spoken, good), []byte(`{"n":2}`), spoken); !errors.Is(err, ErrSignature) {
		t.Errorf("Verify(another body) = %v, want ErrSignature", err)
	}
	keyless := "v1," + base64.StdEncoding.EncodeToString(mac(storage.Secret{}, "msg_1", "1614265330", body))
	if err := Verify(storage.Secret{}, received(spoken, keyless), body, spoken); !errors.Is(err, ErrSignature) {
		t.Errorf("Verify(without a secret) = %v, want ErrSignature", err)
	}
}
