package connector

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// signed returns the text that alipay's RSA2 signature covers: all parameters but sign that have
// a value, by name, decoded.
func signed(params url.Values) []byte {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if value := params.Get(name); value != "" && name != "sign" {
			out = append(out, name+"="+value)
		}
	}
	return []byte(strings.Join(out, "&"))
}

func signature(key *rsa.PrivateKey, text []byte) (string, error) {
	sum := sha256.Sum256(text)
	sign, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return base64.StdEncoding.EncodeToString(sign), err
}

// verified reports whether a text, as it came over the line, is signed with the key.
func verified(key *rsa.PublicKey, text []byte, sign string) bool {
	raw, err := base64.StdEncoding.DecodeString(sign)
	sum := sha256.Sum256(text)
	return err == nil && rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], raw) == nil
}

const minBits = 2048 // RSA2

var (
	errNoKey = errors.New("it is no RSA key; give it as the console or its key tool shows it: PEM, or the base64 " +
		"alone")
	errSmallKey  = errors.New("it has fewer than 2048 bits")
	errCert      = errors.New("it is a certificate; use the console's key mode, and give the public key")
	errWrongKind = errors.New("it is a private key")
)

// der decodes a key in PEM or bare base64. A key from an environment variable may have its line
// ends written as \n.
func der(text string) (raw []byte, kind string, err error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, `\n`, "\n"))
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return block.Bytes, block.Type, nil
	}
	raw, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || len(raw) == 0 {
		return nil, "", errNoKey
	}
	return raw, "", nil
}

// readPrivateKey reads a private key. Its errors never quote the text.
func readPrivateKey(text string) (*rsa.PrivateKey, error) {
	raw, _, err := der(text)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS1PrivateKey(raw)
	if err != nil {
		parsed, _ := x509.ParsePKCS8PrivateKey(raw)
		key, _ = parsed.(*rsa.PrivateKey)
	}
	switch {
	case key == nil:
		return nil, errNoKey
	case key.N.BitLen() < minBits:
		return nil, errSmallKey
	}
	return key, nil
}

func readPublicKey(text string) (*rsa.PublicKey, error) {
	raw, kind, err := der(text)
	switch {
	case err != nil:
		return nil, err
	case kind == "CERTIFICATE":
		return nil, errCert
	case strings.Contains(kind, "PRIVATE KEY"):
		return nil, errWrongKind
	}
	key, err := x509.ParsePKCS1PublicKey(raw)
	if err != nil {
		parsed, _ := x509.ParsePKIXPublicKey(raw)
		key, _ = parsed.(*rsa.PublicKey)
	}
	switch {
	case key == nil:
		return nil, errNoKey
	case key.N.BitLen() < minBits:
		return nil, errSmallKey
	}
	return key, nil
}
