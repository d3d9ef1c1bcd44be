package userfile

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

var errPlain = errors.New("the password is there as plain text: take it out, and have the user set a new one")

// phc writes a hash as a PHC string: what stands in it is checked where it is taken.
func phc(name, params string, salt, key []byte) string {
	enc := base64.RawStdEncoding
	return "$" + name + "$" + params + "$" + enc.EncodeToString(salt) + "$" + enc.EncodeToString(key)
}

func pbkdf2(digest string, rounds int, salt, key []byte) string {
	return phc("pbkdf2-"+digest, fmt.Sprintf("i=%d", rounds), salt, key)
}

func scrypt(n, r, p int, salt, key []byte) (string, error) {
	if n < 2 || bits.OnesCount(uint(n)) != 1 {
		return "", fmt.Errorf("password: scrypt has a cost that is a power of 2, not %d", n)
	}
	return phc("scrypt", fmt.Sprintf("ln=%d,r=%d,p=%d", bits.TrailingZeros(uint(n)), r, p), salt, key), nil
}

// binary decodes a text that is written in some encoding.
func binary(field, encoding, text string) (bytes []byte, err error) {
	switch encoding {
	case "base64":
		bytes, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	case "hex":
		bytes, err = hex.DecodeString(text)
	case "utf8":
		bytes = []byte(text)
	default:
		err = errors.New("no encoding")
	}
	if err != nil {
		return nil, fmt.Errorf("password: %s is not %s", field, encoding)
	}
	return bytes, nil
}

// django reads a hash as Django writes it: the salt is text.
func django(hash string) (string, error) {
	var rounds int
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[0] != "pbkdf2_sha256" {
		return "", errors.New("password: it is not pbkdf2_sha256$ROUNDS$SALT$HASH")
	}
	if _, err := fmt.Sscan(parts[1], &rounds); err != nil {
		return "", errors.New("password: pbkdf2_sha256 has no rounds")
	}
	key, err := binary("the hash", "base64", parts[3])
	return pbkdf2("sha256", rounds, []byte(parts[2]), key), err
}
