package userfile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// keycloak reads the realm that kc.sh export writes, with the users in it or in files of their own.
type keycloak struct{ *names }

func newKeycloak(n *names) keycloak { return keycloak{n} }

func (k keycloak) source() source {
	return source{rows: []string{".users[]", "[].users[]"}, row: k.row, about: map[string]func([]byte) error{
		".identityproviders[]": k.provider, "[].identityproviders[]": k.provider}}
}

// provider keeps the issuer of an identity provider of the realm.
func (k keycloak) provider(raw []byte) error {
	var p struct {
		Alias      string `json:"alias"`
		ProviderID string `json:"providerId"`
		Config     struct {
			Issuer string `json:"issuer"`
		} `json:"config"`
	}
	if err := decode(raw, false, &p); err != nil {
		return err
	}
	if p.ProviderID == "google" {
		p.Config.Issuer = googleIssuer
	}
	k.issuer(p.Alias, p.Config.Issuer)
	return nil
}

type keycloakUser struct {
	Username      string                     `json:"username"`
	Email         string                     `json:"email"`
	EmailVerified bool                       `json:"emailVerified"`
	Enabled       *bool                      `json:"enabled"`
	FirstName     string                     `json:"firstName"`
	LastName      string                     `json:"lastName"`
	Attributes    map[string]json.RawMessage `json:"attributes"`
	Groups        []string                   `json:"groups"`
	Credentials   []keycloakCredential       `json:"credentials"`
	Identities    []struct {
		Provider string `json:"identityProvider"`
		ID       string `json:"userId"`
	} `json:"federatedIdentities"`
	ServiceAccount string `json:"serviceAccountClientId"`
}

func (k keycloak) row(raw []byte) (r importacts.Row, err error) {
	var u keycloakUser
	if err := decode(raw, false, &u); err != nil {
		return r, err
	}
	if u.ServiceAccount != "" {
		return r, errSkip
	}
	r = importacts.Row{Username: u.Username, Email: u.Email, EmailVerified: u.EmailVerified,
		Name: fullName("", u.FirstName, u.LastName), Disabled: u.Enabled != nil && !*u.Enabled}
	for _, path := range u.Groups {
		if err := k.group(&r, strings.TrimPrefix(path, "/")); err != nil {
			return r, err
		}
	}
	for _, c := range u.Credentials {
		if c.Type != "password" {
			continue
		}
		if r.PasswordHash, err = c.hash(); err != nil {
			return r, err
		}
	}
	for _, i := range u.Identities {
		if err := k.identify(&r, i.Provider, i.ID); err != nil {
			return r, err
		}
	}
	return r, attributes(&r, u.Attributes)
}

// keycloakCredential is a credential. Since version 8 what is in it are texts that are JSON.
type keycloakCredential struct {
	Type           string `json:"type"`
	SecretData     string `json:"secretData"`
	CredentialData string `json:"credentialData"`
	Plain          string `json:"value"`

	keycloakHash
	HashedSaltedValue string `json:"hashedSaltedValue"`
	Salt              string `json:"salt"`
}

type keycloakHash struct {
	Algorithm  string              `json:"algorithm"`
	Rounds     int                 `json:"hashIterations"`
	Parameters map[string][]string `json:"additionalParameters"`
	Data       map[string][]string `json:"algorithmData"` // the same, as some versions call it
}

func (h keycloakHash) parameter(name string) string {
	for _, all := range []map[string][]string{h.Parameters, h.Data} {
		if len(all[name]) > 0 {
			return all[name][0]
		}
	}
	return ""
}

func (c keycloakCredential) hash() (string, error) {
	h, secret := c.keycloakHash, struct {
		Value string `json:"value"`
		Salt  string `json:"salt"`
	}{c.HashedSaltedValue, c.Salt}
	if c.SecretData != "" || c.CredentialData != "" {
		if json.Unmarshal([]byte(c.CredentialData), &h) != nil || json.Unmarshal([]byte(c.SecretData), &secret) != nil {
			return "", fmt.Errorf("password: its credentialData and secretData are not read")
		}
	}
	switch {
	case secret.Value == "" && c.Plain != "":
		return "", errPlain
	case strings.HasPrefix(secret.Value, "$"): // an extension, such as that for bcrypt, keeps all of it in one text
		return secret.Value, nil
	}
	key, err := binary("the hash", "base64", secret.Value)
	if err != nil {
		return "", err
	}
	salt, err := binary("the salt", "base64", secret.Salt)
	if err != nil {
		return "", err
	}
	switch h.Algorithm {
	case "pbkdf2":
		return pbkdf2("sha1", h.Rounds, salt, key), nil
	case "pbkdf2-sha256", "pbkdf2-sha512":
		return pbkdf2(strings.TrimPrefix(h.Algorithm, "pbkdf2-"), h.Rounds, salt, key), nil
	case "argon2":
		if version := h.parameter("version"); version != "1.3" {
			return "", fmt.Errorf("password: argon2 of version %q, not 1.3", version)
		}
		return phc("argon2"+h.parameter("type"), fmt.Sprintf("v=19$m=%s,t=%d,p=%s", h.parameter("memory"), h.Rounds,
			h.parameter("parallelism")), salt, key), nil
	}
	return "", fmt.Errorf("password: the algorithm %q is not verified here", h.Algorithm)
}
