package userfile

import (
	"encoding/json"
	"fmt"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// zitadel reads what the admin API exports, and what it imports. Identities and metadata of users stand elsewhere in
// the document, and are kept in memory.
type zitadel struct {
	*names
	links map[string][]zitadelLink
	data  map[string][]zitadelDatum
}

func newZitadel(n *names) zitadel {
	return zitadel{n, map[string][]zitadelLink{}, map[string][]zitadelDatum{}}
}

func (z zitadel) source() source {
	s := source{row: z.row, about: map[string]func([]byte) error{}}
	for _, org := range []string{".orgs[].", ".dataorgs.orgs[]."} {
		s.rows = append(s.rows, org+"humanusers[]")
		s.about[org+"userlinks[]"] = z.link
		s.about[org+"usermetadata[]"] = z.datum
		s.about[org+"oidcidps[]"] = z.provider
	}
	return s
}

type zitadelLink struct {
	UserID string `json:"userId"`
	IDP    string `json:"idpId"`
	ID     string `json:"providedUserId"`
}

type zitadelDatum struct {
	UserID string `json:"id"`
	Key    string `json:"key"`
	Value  []byte `json:"value"`
}

func (z zitadel) link(raw []byte) error {
	var l zitadelLink
	err := decode(raw, false, &l)
	z.links[l.UserID] = append(z.links[l.UserID], l)
	return err
}

func (z zitadel) datum(raw []byte) error {
	var d zitadelDatum
	err := decode(raw, false, &d)
	z.data[d.UserID] = append(z.data[d.UserID], d)
	return err
}

func (z zitadel) provider(raw []byte) error {
	var p struct {
		ID  string `json:"idpId"`
		IDP struct {
			Issuer string `json:"issuer"`
		} `json:"idp"`
	}
	err := decode(raw, false, &p)
	z.issuer(p.ID, p.IDP.Issuer)
	return err
}

type zitadelUser struct {
	UserID string `json:"userId"`
	User   struct {
		UserName string `json:"userName"`
		Profile  struct {
			FirstName   string `json:"firstName"`
			LastName    string `json:"lastName"`
			NickName    string `json:"nickName"`
			DisplayName string `json:"displayName"`
		} `json:"profile"`
		Email struct {
			Email           string `json:"email"`
			IsEmailVerified bool   `json:"isEmailVerified"`
		} `json:"email"`
		Password       string `json:"password"`
		HashedPassword struct {
			Value string `json:"value"`
		} `json:"hashedPassword"`
		IDPs []struct {
			IDP string `json:"configId"`
			ID  string `json:"externalUserId"`
		} `json:"idps"`
	} `json:"user"`
}

func (z zitadel) row(raw []byte) (r importacts.Row, err error) {
	var u zitadelUser
	if err := decode(raw, false, &u); err != nil {
		return r, err
	}
	of := u.User
	r = importacts.Row{Username: of.UserName, Email: of.Email.Email, EmailVerified: of.Email.IsEmailVerified,
		Name:     fullName(of.Profile.DisplayName, of.Profile.FirstName, of.Profile.LastName),
		Nickname: of.Profile.NickName, PasswordHash: of.HashedPassword.Value}
	if of.Password != "" && r.PasswordHash == "" {
		return r, errPlain
	}
	for _, i := range of.IDPs {
		if err := z.identify(&r, i.IDP, i.ID); err != nil {
			return r, err
		}
	}
	for _, l := range z.links[u.UserID] {
		if err := z.identify(&r, l.IDP, l.ID); err != nil {
			return r, err
		}
	}
	for _, d := range z.data[u.UserID] {
		value, _ := json.Marshal(string(d.Value))
		if err := attribute(&r, d.Key, value); err != nil {
			return r, fmt.Errorf("metadata: %w", err)
		}
	}
	return r, nil
}
