package passwords

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"
)

// foreignHashes are made by other programs, or as they say that theirs are.
var foreignHashes = []struct{ from, hash, password, stored string }{
	{"crypt_blowfish 2a", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U", ""},
	{"crypt_blowfish 2y", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*", ""},
	{"passlib 2b", "$2b$12$bIRGj4QPPoSUMWsJE.4Pk.T1qTpDWz7HhMnuiQhGzGinKPsx/HQdq", "password", ""},
	{"argon2 -i", "$argon2i$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$YMvo8AUoNtnKYGqeODruCjHdiEbl1pKL2MsYy9VgU/E",
		"password", ""},
	{"argon2 -id", "$argon2id$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU",
		"password", ""},
	{"passlib scrypt", "$scrypt$ln=16,r=8,p=1$cmFuZG9tc2FsdGlzaGFyZA$Rh+NnJNo1I6nRwaNqbDm6kmADswD1+7FTKZ7Ln9D8nQ",
		"password", ""},
	{"passlib pbkdf2", "$pbkdf2$12$cmFuZG9tc2FsdGlzaGFyZA$mwUqsMixIYMc/0eN4v1.l3SVDpk", "password",
		"$pbkdf2-sha1$i=12$cmFuZG9tc2FsdGlzaGFyZA$mwUqsMixIYMc/0eN4v1+l3SVDpk"},
	{"passlib pbkdf2-sha256", "$pbkdf2-sha256$12$cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i.qJLI7A8nDjPLnolCWarQY",
		"password", "$pbkdf2-sha256$i=12$cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i+qJLI7A8nDjPLnolCWarQY"},
	{"passlib pbkdf2-sha512", "$pbkdf2-sha512$12$cmFuZG9tc2FsdGlzaGFyZA$e297piXvkpYxoYQAWD9zn1aKXCo3XmR91Xn9/WEGsHXU/" +
		"7xaQzCV9upu4T5Jntq6AiZ6YX0diXnY7Ju5TEfUMA", "password",
		"$pbkdf2-sha512$i=12$cmFuZG9tc2FsdGlzaGFyZA$e297piXvkpYxoYQAWD9zn1aKXCo3XmR91Xn9/WEGsHXU/" +
			"7xaQzCV9upu4T5Jntq6AiZ6YX0diXnY7Ju5TEfUMA"},
	{"Keycloak", "$pbkdf2-sha256$i=27500,l=32$P5rtFkGtPfoaryJ6PizUJw==$JsfNbCOIdZUbyBJ+BT+VoGI91Ec2rWLOvkLPDaX8e9k=",
		"password", "$pbkdf2-sha256$i=27500$P5rtFkGtPfoaryJ6PizUJw$JsfNbCOIdZUbyBJ+BT+VoGI91Ec2rWLOvkLPDaX8e9k"},
}

func TestHashOfAnotherProductIsVerifiedAsItIsAndIsStale(t *testing.T) {
	p, ctx := New(Cost{Memory: 64, Passes: 1}), context.Background()
	for _, v := range foreignHashes {
		stored, err := Adopt(v.hash)
		if want := v.stored; err != nil || want != "" && stored != want || want == "" && stored != v.hash {
			t.Errorf("%s: Adopt() = %q, %v", v.from, stored, err)
			continue
		}
		if ok, stale, err := p.Verify(ctx, stored, v.password); !ok || !stale || err != nil {
			t.Errorf("%s: Verify() = %v, %v, %v", v.from, ok, stale, err)
		}
	}
}

// made returns hashes of a password at the smallest cost, as the libraries make them.
func made(t testing.TB, password string) map[string]string {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	salt := []byte("salt of 16 bytes")
	s, err := scrypt.Key([]byte(password), salt, 16, 8, 1, 32)
	if err != nil {
		t.Fatal(err)
	}
	enc := base64.RawStdEncoding.EncodeToString
	all := map[string]string{
		"bcrypt":  string(b),
		"argon2i": "$argon2i$v=19$m=64,t=1,p=2$" + enc(salt) + "$" + enc(argon2.Key([]byte(password), salt, 1, 64, 2, 32)),
		"argon2id": "$argon2id$v=19$m=64,t=1,p=2$" + enc(salt) + "$" +
			enc(argon2.IDKey([]byte(password), salt, 1, 64, 2, 32)),
		"scrypt": "$scrypt$ln=4,r=8,p=1$" + enc(salt) + "$" + enc(s),
	}
	one, _ := pbkdf2.Key(sha1.New, password, salt, 3, 64)
	two, _ := pbkdf2.Key(sha256.New, password, salt, 3, 64)
	three, _ := pbkdf2.Key(sha512.New, password, nil, 3, 64)
	all["pbkdf2-sha1"] = "$pbkdf2-sha1$i=3$" + enc(salt) + "$" + enc(one)
	all["pbkdf2-sha256"] = "$pbkdf2-sha256$i=3$" + enc(salt) + "$" + enc(two)
	all["pbkdf2-sha512"] = "$pbkdf2-sha512$i=3$$" + enc(three) // without salt
	return all
}

// One character of any hash that is another one makes it another hash, or none: no password is right.
func TestHashWithOneWrongCharacterIsNobodys(t *testing.T) {
	p, ctx := New(Cost{Memory: 8, Passes: 1}), context.Background()
	const password = "fünf Bäume"
	for name, hash := range made(t, password) {
		stored, err := Adopt(hash)
		if ok, stale, wrong := p.Verify(ctx, stored, password); err != nil || !ok || !stale || wrong != nil {
			t.Fatalf("%s: %v; Verify() = %v, %v, %v", name, err, ok, stale, wrong)
		}
		for i := strings.LastIndexByte(hash, '$') - 5; i < len(hash); i++ {
			planted := hash[:i] + "A" + hash[i+1:]
			if hash[i] == 'A' {
				planted = hash[:i] + "Q" + hash[i+1:]
			}
			if name == "bcrypt" && i == 28 {
				continue // the last character of the salt has four bits that count for nothing
			}
			stored, err := Adopt(planted)
			if err != nil {
				continue // it is refused before anybody signs in
			}
			if ok, _, err := p.Verify(ctx, stored, password); ok || err != nil {
				t.Errorf("%s, another character at %d: Verify() = %v, %v", name, i, ok, err)
			}
		}
	}
}

func TestHashThatCostsTooMuchIsRefusedAndNeverComputed(t *testing.T) {
	enc := base64.RawStdEncoding.EncodeToString
	salt, key, long := enc(make([]byte, 16)), enc(make([]byte, 32)), enc(make([]byte, 64))
	end := salt + "$" + key
	for hash, want := range map[string]error{
		"$2b$14$" + strings.Repeat("a", 53):              nil,
		"$2b$15$" + strings.Repeat("a", 53):              ErrCost,
		"$2b$31$" + strings.Repeat("a", 53):              ErrCost,
		"$2b$03$" + strings.Repeat("a", 53):              ErrForm,
		"$2x$10$" + strings.Repeat("a", 53):              ErrForm,
		"$2b$10$" + strings.Repeat("a", 54):              ErrForm,
		"$2b$10$" + strings.Repeat("=", 53):              ErrForm,
		"$argon2id$v=19$m=262144,t=4,p=1$" + end:         nil,
		"$argon2id$v=19$m=262144,t=5,p=1$" + end:         ErrCost,
		"$argon2i$v=19$m=262144,t=5,p=1$" + end:          ErrCost,
		"$argon2i$v=19$m=262145,t=1,p=1$" + end:          ErrForm,
		"$argon2i$v=16$m=64,t=1,p=1$" + end:              ErrForm,
		"$argon2d$v=19$m=64,t=1,p=1$" + end:              ErrForm,
		"$scrypt$ln=18,r=8,p=1$" + end:                   nil,
		"$scrypt$ln=18,r=8,p=2$" + end:                   ErrCost,
		"$scrypt$ln=19,r=8,p=1$" + end:                   ErrCost,
		"$scrypt$ln=63,r=1,p=1$" + end:                   ErrCost,
		"$scrypt$ln=1,r=2147483647,p=2147483647$" + end:  ErrCost,
		"$scrypt$ln=0,r=8,p=1$" + end:                    ErrForm,
		"$scrypt$ln=14,p=1,r=8$" + end:                   ErrForm,
		"$scrypt$ln=14,r=8$" + end:                       ErrForm,
		"$scrypt$ln=14,r=-8,p=1$" + end:                  ErrForm,
		"$pbkdf2-sha256$i=4000000$" + end:                nil,
		"$pbkdf2-sha256$i=4000001$" + end:                ErrCost,
		"$pbkdf2-sha256$i=2000001$" + salt + "$" + long:  ErrCost,
		"$pbkdf2-sha1$i=1300000$" + salt + "$" + long:    nil,
		"$pbkdf2-sha512$i=1000001$" + salt + "$" + long:  ErrCost,
		"$pbkdf2-sha512$i=2147483647$" + end:             ErrCost,
		"$pbkdf2-sha512$i=99999999999999999999$" + end:   ErrForm,
		"$pbkdf2-sha512$i=0$" + end:                      ErrForm,
		"$pbkdf2-sha512$i=1,l=33$" + end:                 ErrForm,
		"$pbkdf2-sha384$i=1$" + end:                      ErrForm,
		"$pbkdf2-sha256$i=1$" + salt + "$AAAA":           ErrForm,
		"$pbkdf2-sha256$i=1$" + long + "AAAA$" + key:     ErrForm,
		"$pbkdf2-sha256$i=1$" + salt + "$\n" + key:       ErrForm,
		"$pbkdf2-sha256$i=1$" + salt + "$" + key + "$":   ErrForm,
		"$pbkdf2-sha256$i=1$" + salt:                     ErrForm,
		"$6$rounds=5000$salt$hash":                       ErrForm,
		"5f4dcc3b5aa765d61d8327deb882cf99":               ErrForm,
		"password":                                       ErrForm,
		"":                                               ErrForm,
		strings.Repeat("$", 600):                         ErrForm,
		"$pbkdf2-sha256$i=1$" + strings.Repeat("A", 600): ErrForm,
	} {
		if _, err := Adopt(hash); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("Adopt(%q) = %v, want %v", hash, err, want)
		}
	}
}

// A hash that is taken in is in the form that it is read in again, and has a password.
func FuzzAdopt(f *testing.F) {
	for _, v := range foreignHashes {
		f.Add(v.hash)
	}
	for _, hash := range made(f, "password") {
		f.Add(hash)
	}
	f.Add(fmt.Sprintf("$scrypt$ln=%d,r=8,p=1$$", 1<<40))
	f.Fuzz(func(t *testing.T, hash string) {
		stored, err := Adopt(hash)
		if err != nil {
			if !errors.Is(err, ErrForm) && !errors.Is(err, ErrCost) {
				t.Errorf("Adopt(%q) = %v", hash, err)
			}
			return
		}
		if again, err := Adopt(stored); again != stored || err != nil {
			t.Errorf("Adopt(%q) = %q, and of that %q, %v", hash, stored, again, err)
		}
	})
}
