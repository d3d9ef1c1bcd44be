package webhook

import (
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
