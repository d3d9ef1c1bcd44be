package forgery

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"

	"github.com/keystile/keystile/storage"
)

// pair is a signing key of the service, or of somebody else.
type pair struct {
	storage.SigningKey
	private crypto.Signer
}

func (f *forger) open(k storage.SigningKey) pair {
	f.Helper()
	der, err := base64.StdEncoding.DecodeString(k.Private.Reveal())
	if err != nil {
		f.Fatalf("forgery: key %s: %v", k.ID, err)
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		f.Fatalf("forgery: key %s: %v", k.ID, err)
	}
	return pair{k, private.(crypto.Signer)}
}

// unknownSigner returns an ES256 key that the service has never seen.
func (f *forger) unknownSigner() pair {
	f.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	return pair{storage.SigningKey{ID: "stranger", Alg: "ES256"}, private}
}

// sign makes a well signed token of any header and claims.
func (f *forger) sign(header, body object) string {
	return f.seal(f.main, encode(header.String()), encode(body.String()))
}

// seal signs two segments as they stand.
func (f *forger) seal(p pair, header, body string) string {
	f.Helper()
	message := header + "." + body
	return message + "." + encode(string(f.signature(p, message)))
}

func (f *forger) signature(p pair, message string) []byte {
	f.Helper()
	digest := sha256.Sum256([]byte(message))
	switch private := p.private.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(private, []byte(message))
	case *rsa.PrivateKey:
		signature, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, digest[:])
		if err != nil {
			f.Fatal(err)
		}
		return signature
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, digest[:])
		if err != nil {
			f.Fatal(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	f.Fatalf("forgery: no way to sign with a %T", p.private)
	return nil
}

// mac signs with HS256.
func mac(secret []byte, header, body object) string {
	message := encode(header.String()) + "." + encode(body.String())
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(message))
	return message + "." + encode(string(h.Sum(nil)))
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
