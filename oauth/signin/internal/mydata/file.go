package mydata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/storage"
)

// format is the version of the file.
const format = "keystile.account.1"

// file is all of the file but the audit records.
type file struct {
	Format   string    `json:"format"`
	Service  string    `json:"service"`
	MadeAt   time.Time `json:"made_at"`
	Profile  profile   `json:"profile"`
	WaysIn   []way     `json:"ways_in"`
	Factors  factors   `json:"second_factors"`
	Sessions []browser `json:"sessions"`
	OpenIDs  []openID  `json:"openids"`
	Consents []consent `json:"consents"`
	APIKeys  []key     `json:"api_keys"`
	Owns     owned     `json:"owns"`
}

type profile struct {
	Sub           string    `json:"sub"`
	ID            int64     `json:"id,omitempty"`
	Username      string    `json:"username"`
	Name          string    `json:"name,omitempty"`
	Nickname      string    `json:"nickname,omitempty"`
	Picture       string    `json:"picture,omitempty"`
	Gender        string    `json:"gender,omitempty"`
	Location      string    `json:"location,omitempty"`
	Email         string    `json:"email,omitempty"`
	EmailVerified bool      `json:"email_verified,omitempty"`
	Role          string    `json:"role,omitempty"`
	LoginType     string    `json:"login_type,omitempty"`
	CreatedAt     time.Time `json:"created_at,omitzero"`
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
}

type way struct {
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

type factors struct {
	Authenticator *authenticator `json:"authenticator,omitempty"`
	Passkeys      []passkey      `json:"passkeys"`
	CodesLeft     int            `json:"recovery_codes_left"`
}

type authenticator struct {
	CreatedAt time.Time `json:"created_at,omitzero"`
	UsedAt    time.Time `json:"used_at,omitzero"`
}

type passkey struct {
	Name      string    `json:"name"`
	Synced    bool      `json:"synced"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UsedAt    time.Time `json:"used_at,omitzero"`
}

type browser struct {
	Method   string    `json:"method"`
	AMR      string    `json:"amr,omitempty"`
	AuthTime time.Time `json:"auth_time"`
	UntilUse time.Time `json:"expires_at"` // if it is not used before
	EndsAt   time.Time `json:"ends_at"`
	IP       string    `json:"ip,omitempty"`
	Agent    string    `json:"user_agent,omitempty"`
	Lang     string    `json:"language,omitempty"`
}

type openID struct {
	App       string    `json:"client_id"`
	Name      string    `json:"application,omitempty"`
	OpenID    string    `json:"openid"`
	CreatedAt time.Time `json:"created_at"`
	EndedAt   time.Time `json:"access_removed_at,omitzero"`
}

type consent struct {
	App       string    `json:"client_id"`
	Name      string    `json:"application,omitempty"`
	Scope     string    `json:"scope"`
	Asked     string    `json:"asked,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type key struct {
	Name      string    `json:"name"`
	Scope     string    `json:"scope"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	UsedAt    time.Time `json:"used_at,omitzero"`
}

type owned struct {
	Apps         []ownedApp        `json:"applications"`
	Capabilities []ownedCapability `json:"capabilities"`
}

type ownedApp struct {
	ID        string    `json:"client_id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

type ownedCapability struct {
	Member    string    `json:"name"`
	Label     string    `json:"label,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// gather returns the file up to the audit records.
func (p *Page) gather(ctx context.Context, u storage.User, now time.Time) ([]byte, error) {
	f := file{
		Format: format, Service: p.Base, MadeAt: now,
		Profile: profile{u.Sub, u.ID, u.Username, u.Name, u.Nickname, u.Picture, u.Gender, u.Location, u.Email,
			u.EmailVerified, u.Role, u.LoginType, u.CreatedAt, u.UpdatedAt},
	}
	err := errors.Join(p.signIns(ctx, &f, u.Sub), p.grants(ctx, &f, u.Sub), p.owns(ctx, &f, u.Sub))
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(f, "", "  ")
	return bytes.TrimSuffix(text, []byte("\n}")), err
}

func (p *Page) signIns(ctx context.Context, f *file, sub string) error {
	logins, err := p.Logins.Logins(ctx, sub)
	all, err2 := p.Store.Sessions(ctx, sub)
	has, err3 := p.Store.Factors(ctx, sub)
	keys, err4 := p.Store.APIKeys(ctx, sub)
	f.WaysIn, f.Sessions, f.Factors.Passkeys, f.APIKeys = []way{}, []browser{}, []passkey{}, []key{}
	for _, l := range logins {
		f.WaysIn = append(f.WaysIn, way{l.Method, l.Subject, l.CreatedAt})
	}
	for _, v := range all {
		f.Sessions = append(f.Sessions, browser{session.ProofOf(v).Method, v.AMR, v.AuthTime, v.ExpiresAt, v.EndsAt, v.IP,
			v.Agent, v.Lang})
	}
	if a := has.Authenticator; a != nil {
		f.Factors.Authenticator = &authenticator{a.CreatedAt, a.UsedAt}
	}
	for _, k := range has.Passkeys {
		f.Factors.Passkeys = append(f.Factors.Passkeys, passkey{k.Name, k.Synced, k.CreatedAt, k.UsedAt})
	}
	f.Factors.CodesLeft = has.CodesLeft()
	for _, k := range keys {
		f.APIKeys = append(f.APIKeys, key{k.Name, k.Scope, k.CreatedAt, k.ExpiresAt, k.UsedAt})
	}
	return errors.Join(err, err2, err3, err4)
}

func (p *Page) grants(ctx context.Context, f *file, sub string) error {
	met, err := p.Store.OpenIDs(ctx, sub)
	given, err2 := p.Store.Consents(ctx, sub)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	names := map[string]string{}
	name := func(id string) string {
		if _, ok := names[id]; !ok {
			a, _ := p.Store.App(ctx, id) // one that is gone has no name
			names[id] = a.Name
		}
		return names[id]
	}
	f.OpenIDs, f.Consents = []openID{}, []consent{}
	for _, o := range met {
		f.OpenIDs = append(f.OpenIDs, openID{o.AppID, name(o.AppID), o.OpenID, o.CreatedAt, o.EndedAt})
	}
	for _, c := range given {
		f.Consents = append(f.Consents, consent{c.AppID, name(c.AppID), c.Scope, c.Asked, c.CreatedAt, c.UpdatedAt})
	}
	return nil
}

// pageSize bounds how many of what a user owns are read at a time.
const pageSize = 100

func (p *Page) owns(ctx context.Context, f *file, sub string) error {
	f.Owns = owned{[]ownedApp{}, []ownedCapability{}}
	if p.Owned == nil || sub == "" { // an empty owner would be everybody
		return nil
	}
	for from, done := "", false; !done; done = from == "" {
		all, next, err := p.Owned.Apps(ctx, sub, from, pageSize)
		if err != nil {
			return err
		}
		for _, a := range all {
			f.Owns.Apps = append(f.Owns.Apps, ownedApp{a.ID, a.Name, a.CreatedAt})
		}
		from = next
	}
	for from, done := "", false; !done; done = from == "" {
		all, next, err := p.Owned.Capabilities(ctx, sub, from, pageSize)
		if err != nil {
			return err
		}
		for _, c := range all {
			f.Owns.Capabilities = append(f.Owns.Capabilities, ownedCapability{c.Member, c.Label, c.CreatedAt})
		}
		from = next
	}
	return nil
}

// write writes the file, with the audit records as they are read.
func (p *Page) write(ctx context.Context, w io.Writer, head []byte, sub string) error {
	if _, err := w.Write(append(head, ",\n  \"audit\": {\"records\": ["...)); err != nil {
		return err
	}
	complete, err := p.records(ctx, w, sub)
	if err != nil {
		return err
	}
	end := "],\n  \"complete\": false}\n}\n"
	if complete {
		end = "],\n  \"complete\": true}\n}\n"
	}
	_, err = io.WriteString(w, end)
	return err
}
