package oauth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"testing"
)

// An ID-JAG takes the verification of one signature, the making of another, and one write.
func BenchmarkDelegated(b *testing.B) {
	h := newTrusting(b)
	mine := h.issued(h.agent, "scope", "openid profile tools")
	subject := mine.text("access_token")
	sum := sha256.Sum256([]byte(subject))
	signature, err := h.idp.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("floor/verify and sign", func(b *testing.B) {
		for b.Loop() {
			ecdsa.VerifyASN1(&h.idp.key.PublicKey, sum[:], signature)
			h.idp.key.Sign(rand.Reader, sum[:], crypto.SHA256)
		}
	})
	for name, request := range map[string]func() *attempt{
		"exchange": func() *attempt { return h.exchanges(subject) }, "id-jag": h.idJAG, "workload": h.workload,
		"proof": h.proof,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				a := request()
				if a.claims != nil {
					a.form.Set(a.field, a.key.sign(b, a.head, a.claims))
				}
				b.StartTimer()
				h.post("/oauth/token", a.form).tokens(b)
			}
		})
	}
}
