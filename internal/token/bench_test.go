package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"hash/maphash"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// The floors stand beside what they bound, so that one run gives the ratios.

func BenchmarkVerify(b *testing.B) {
	v, _ := verifier(b, ES256)
	bearer := mint(b, v.keys, nil)
	b.Run("floor: sha256 of the token", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sha256.Sum256([]byte(bearer))
		}
	})
	seed, same := maphash.MakeSeed(), strings.Clone(bearer)
	b.Run("floor: hash, comparison and time.Now", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if maphash.String(seed, bearer); bearer != same {
				b.Fatal()
			}
			time.Now()
		}
	})
	hit := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.Verify(b.Context(), bearer); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("hit, nothing revoked", hit)
	for i := range 10_000 {
		stop := driver.Revocation{Kind: driver.RevokeJTI, ID: strconv.Itoa(i), Until: time.Now().Add(week)}
		if err := v.revoked.Revoke(b.Context(), stop); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("hit, 10,000 revocations", hit)
	b.Run("hit, all cores", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				v.Verify(b.Context(), bearer)
			}
		})
	})
}

func BenchmarkVerifyManyTokens(b *testing.B) {
	v, _ := verifier(b, EdDSA)
	bearers := make([]string, 20_000)
	for i := range bearers {
		bearers[i] = mint(b, v.keys, func(c *Claims) { c.ID = strconv.Itoa(i) })
		if _, err := v.Verify(b.Context(), bearers[i]); err != nil {
			b.Fatal(err)
		}
	}
	i := 0
	b.Run("floor: sha256 of 20,000 tokens", func(b *testing.B) {
		for b.Loop() {
			i = (i + 7919) % len(bearers)
			sha256.Sum256([]byte(bearers[i]))
		}
	})
	b.Run("hit among 20,000 tokens", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i = (i + 7919) % len(bearers)
			if _, err := v.Verify(b.Context(), bearers[i]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, alg := range []string{ES256, EdDSA, RS256} {
		v, _ := verifier(b, alg)
		bearer := mint(b, v.keys, nil)
		b.Run("miss "+alg, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(bearer, v.keys.set.Load(), issuer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	secret := private(b, newKey(b, ES256, storage.KeyActive)).(*ecdsa.PrivateKey)
	digest := sha256.Sum256([]byte("keystile"))
	signature, err := secret.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("floor: ES256", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ecdsa.VerifyASN1(&secret.PublicKey, digest[:], signature)
		}
	})
}

func BenchmarkSignAccess(b *testing.B) {
	for _, alg := range []string{ES256, EdDSA, RS256} {
		v, _ := verifier(b, alg)
		claims := genuine()
		b.Run(alg, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.keys.SignAccess(claims); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	secret := private(b, newKey(b, ES256, storage.KeyActive)).(*ecdsa.PrivateKey)
	payload := genuine().append(nil)
	b.Run("floor: ES256", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			digest := sha256.Sum256(payload)
			secret.Sign(nil, digest[:], crypto.SHA256)
		}
	})
	b.Run("peer: ES256 by go-jose", func(b *testing.B) {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: secret}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			jws, _ := signer.Sign(payload)
			jws.CompactSerialize()
		}
	})
}

func BenchmarkSignHS256(b *testing.B) {
	secret, claims := storage.DrawSecret(), genuine().append(nil)
	b.ReportAllocs()
	for b.Loop() {
		SignHS256(secret, TypeID, claims)
	}
}
