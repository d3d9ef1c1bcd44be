package forgery

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"slices"
)

// unsigned: alg none (RFC 8725 2.1) and signatures that are not there.
func (f *forger) unsigned() (out []Forgery) {
	body := encode(f.body().String())
	for _, alg := range []string{"none", "None", "NONE", "nOnE", ""} {
		header := encode(f.header().with("alg", quote(alg)).String())
		out = append(out,
			Forgery{"alg " + quote(alg) + " without a signature", header + "." + body + "."},
			Forgery{"alg " + quote(alg) + " with a signature", f.seal(f.main, header, body)})
	}
	header := encode(f.header().String())
	zeros := string(make([]byte, 64))
	return append(out,
		Forgery{"no signature", header + "." + body + "."},
		Forgery{"signature all zero", header + "." + body + "." + encode(zeros)},
		Forgery{"signature one byte", header + "." + body + "." + encode("\x00")},
		Forgery{"signature r = s = n", header + "." + body + "." + encode(order()+order())},
		Forgery{"signature in ASN.1", header + "." + body + "." + encode(f.asn1(header+"."+body))},
	)
}

// order is the order of P-256, a value that r and s must stay below.
func order() string {
	n, _ := new(big.Int).SetString("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16)
	return string(n.Bytes())
}

// asn1 signs, if the key is one for ES256, in the coding that ES256 does not use (RFC 7518
// 3.4).
func (f *forger) asn1(message string) string {
	f.Helper()
	p := f.main
	if p.Alg != "ES256" {
		p = f.unknownSigner()
	}
	digest := sha256.Sum256([]byte(message))
	signature, err := p.private.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		f.Fatal(err)
	}
	return string(signature)
}

// confused: HS256 keyed with what everybody can read (RFC 8725 2.1), and other
// disagreements between alg and the key.
func (f *forger) confused() (out []Forgery) {
	for _, p := range f.pairs {
		for name, secret := range f.spellings(p) {
			name = "HS256 keyed with the " + name + " of the " + p.State + " " + p.Alg + " key"
			out = append(out,
				Forgery{name, mac(secret, f.headerOf("HS256", p.ID), f.body())},
				Forgery{name + ", alg left alone", mac(secret, f.headerOf(p.Alg, p.ID), f.body())})
		}
	}
	out = append(out, Forgery{"HS256 keyed with nothing", mac(nil, f.headerOf("HS256", f.main.ID), f.body())})
	for _, alg := range []string{"ES256", "EdDSA", "RS256", "PS256", "ES384", "ES256K", "es256", "Ed25519", "ES256 "} {
		if alg != f.main.Alg {
			out = append(out, Forgery{"alg " + quote(alg) + " for the " + f.main.Alg + " key",
				f.sign(f.header().with("alg", quote(alg)), f.body())})
		}
	}
	for _, p := range f.pairs {
		if p.ID != f.main.ID {
			out = append(out, Forgery{"kid of the " + p.State + " " + p.Alg + " key",
				f.sign(f.header().with("kid", quote(p.ID)), f.body())})
		}
	}
	slices.SortFunc(out, byName)
	return out
}

// spellings returns the public key in every form that might be taken for a secret.
func (f *forger) spellings(p pair) map[string][]byte {
	f.Helper()
	public := p.private.Public()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		f.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	out := map[string][]byte{
		"PEM":                       text,
		"PEM, without its line end": text[:len(text)-1],
		"DER":                       der,
		"base64 of DER":             []byte(base64.StdEncoding.EncodeToString(der)),
		"kid":                       []byte(p.ID),
		"JWK":                       []byte(jwk(public)),
	}
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		out["point"], out["coordinates"] = point, point[1:]
	case ed25519.PublicKey:
		out["raw bytes"], out["base64url"] = k, []byte(base64.RawURLEncoding.EncodeToString(k))
	case *rsa.PublicKey:
		pkcs1 := x509.MarshalPKCS1PublicKey(k)
		out["PKCS #1 DER"], out["modulus"] = pkcs1, k.N.Bytes()
		out["PKCS #1 PEM"] = pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: pkcs1})
	}
	return out
}
