package passwords

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"
)

// These are the largest costs of a hash of another product. Each takes a second or two, once for each user, and none
// takes more memory than an own one may.
const (
	maxWork   = 1 << 20   // KiB that argon2 writes in all passes
	maxBcrypt = 14        // the logarithm of the rounds
	maxScrypt = 256 << 20 // bytes: 128 * N * r * p
	maxText   = 512       // bytes of a hash as text
)

var (
	// ErrForm is the error of a text that is no hash which Verify knows.
	ErrForm = errors.New("password hash: give bcrypt ($2a$, $2b$, $2y$), or argon2i, argon2id, scrypt, pbkdf2-sha1, " +
		"pbkdf2-sha256 or pbkdf2-sha512 as a PHC string; the salt has at most 64 bytes, the key 16 to 64")
	// ErrCost is the error of a hash that takes more than is ever computed for a sign-in.
	ErrCost = errors.New("password hash: it costs more than is computed at a sign-in. The most is 14 for bcrypt, 256 " +
		"MiB and 1 GiB over all passes for argon2, 256 MiB (128 * N * r * p) for scrypt, and for PBKDF2 6,000,000 rounds " +
		"of SHA-1, 4,000,000 of SHA-256 or 1,000,000 of SHA-512, each counted as often as the digest fits into the key")
)

// foreign is a hash of another product.
type foreign struct {
	text    string // as it is stored
	matches func(password string) bool
}

// Adopt returns the form in which a hash that another product has made is stored, for Verify. It takes bcrypt ($2a$,
// $2b$, $2y$), and argon2i, argon2id, scrypt and PBKDF2 with SHA-1, SHA-256 or SHA-512 as PHC strings; PBKDF2 also as
// passlib writes it. ErrForm or ErrCost: Verify would not compute it.
func Adopt(hash string) (stored string, err error) {
	if strings.HasPrefix(hash, "$argon2id$") {
		h, err := parseHash(hash)
		switch {
		case err != nil:
			return "", ErrForm
		case h.tooMuch():
			return "", ErrCost
		}
		return hash, nil
	}
	f, err := parseForeign(hash)
	if err == nil && f == nil {
		err = ErrForm
	}
	if err != nil {
		return "", err
	}
	return f.text, nil
}

func (h phc) tooMuch() bool { return uint64(h.cost.Memory)*uint64(h.cost.Passes) > maxWork }

// parseForeign reads a hash that another product has made; nil if it is none: "", and argon2id, which is our own.
func parseForeign(text string) (*foreign, error) {
	parts := strings.Split(text, "$")
	if len(text) > maxText || len(parts) < 3 || parts[0] != "" {
		return nil, nil
	}
	switch name, params := parts[1], parts[2:]; name {
	case "2a", "2b", "2y":
		return parseBcrypt(text, params)
	case "argon2i":
		return parseArgon2i(text)
	case "scrypt":
		return parseScrypt(params)
	case "pbkdf2", "pbkdf2-sha1":
		return parsePBKDF2("sha1", sha1.New, 6_000_000, params)
	case "pbkdf2-sha256":
		return parsePBKDF2("sha256", sha256.New, 4_000_000, params)
	case "pbkdf2-sha512":
		return parsePBKDF2("sha512", sha512.New, 1_000_000, params)
	}
	return nil, nil
}

func parseBcrypt(text string, params []string) (*foreign, error) {
	const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if len(params) != 2 || len(params[0]) != 2 || len(params[1]) != 53 || strings.Trim(params[1], alphabet) != "" {
		return nil, ErrForm
	}
	switch cost, err := strconv.ParseUint(params[0], 10, 8); {
	case err != nil || cost < uint64(bcrypt.MinCost):
		return nil, ErrForm
	case cost > maxBcrypt:
		return nil, ErrCost
	}
	return &foreign{text, func(password string) bool {
		return bcrypt.CompareHashAndPassword([]byte(text), []byte(password)) == nil
	}}, nil
}

func parseArgon2i(text string) (*foreign, error) {
	h, err := parseHash(strings.Replace(text, "$argon2i$", "$argon2id$", 1))
	switch {
	case err != nil:
		return nil, ErrForm
	case h.tooMuch():
		return nil, ErrCost
	}
	return &foreign{text, equal(h.key, func(password []byte) ([]byte, error) {
		return argon2.Key(password, h.salt, h.cost.Passes, h.cost.Memory, h.threads, uint32(len(h.key))), nil
	})}, nil
}

func parseScrypt(params []string) (*foreign, error) {
	if len(params) != 3 {
		return nil, ErrForm
	}
	var n [3]int
	names := []string{"ln", "r", "p"}
	all := strings.Split(params[0], ",")
	if len(all) != len(names) {
		return nil, ErrForm
	}
	for i, one := range all {
		value, found := strings.CutPrefix(one, names[i]+"=")
		if n[i] = count(value); !found || n[i] < 1 {
			return nil, ErrForm
		}
	}
	salt, key, err := saltAndKey(params[1], params[2])
	ln, r, p := n[0], n[1], n[2]
	switch {
	case err != nil:
		return nil, err
	case ln > 21 || r > maxScrypt>>7 || p > maxScrypt>>7 || uint64(r)*uint64(p) > maxScrypt>>7>>ln:
		return nil, ErrCost
	}
	return &foreign{
		fmt.Sprintf("$scrypt$ln=%d,r=%d,p=%d$%s", ln, r, p, tail(salt, key)),
		equal(key, func(password []byte) ([]byte, error) { return scrypt.Key(password, salt, 1<<ln, r, p, len(key)) }),
	}, nil
}

// parsePBKDF2 reads the parameters of a PHC string, i=ROUNDS and perhaps l=BYTES, and those of passlib, which are the
// rounds alone.
func parsePBKDF2(name string, digest func() hash.Hash, most int, params []string) (*foreign, error) {
	if len(params) != 3 {
		return nil, ErrForm
	}
	text, size, sized := strings.Cut(params[0], ",l=")
	rounds := count(strings.TrimPrefix(text, "i="))
	salt, key, err := saltAndKey(params[1], params[2])
	switch {
	case err != nil:
		return nil, err
	case rounds < 1, sized && count(size) != len(key):
		return nil, ErrForm
	case rounds > most/((len(key)+digest().Size()-1)/digest().Size()):
		return nil, ErrCost
	}
	return &foreign{
		fmt.Sprintf("$pbkdf2-%s$i=%d$%s", name, rounds, tail(salt, key)),
		equal(key, func(password []byte) ([]byte, error) {
			return pbkdf2.Key(digest, string(password), salt, rounds, len(key))
		}),
	}, nil
}

// equal returns a function that derives a key from a password and compares it, in constant time.
func equal(want []byte, derive func(password []byte) ([]byte, error)) func(string) bool {
	return func(password string) bool {
		got, err := derive([]byte(password))
		return err == nil && subtle.ConstantTimeCompare(got, want) == 1
	}
}

// saltAndKey decodes base64 without padding, or with it; passlib writes a point for the plus.
func saltAndKey(saltText, keyText string) (salt, key []byte, err error) {
	decode := func(text string) []byte {
		text = strings.ReplaceAll(strings.TrimRight(text, "="), ".", "+")
		bytes, wrong := base64.RawStdEncoding.Strict().DecodeString(text)
		if wrong != nil || strings.ContainsAny(text, "\r\n") {
			err = ErrForm
		}
		return bytes
	}
	salt, key = decode(saltText), decode(keyText)
	if len(salt) > maxBytes || len(key) < 16 || len(key) > maxBytes {
		err = ErrForm
	}
	return salt, key, err
}

func tail(salt, key []byte) string {
	return base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(key)
}

// count reads a whole number as it is written without need for more: -1 for anything else.
func count(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return -1
	}
	return int(n)
}
