package token

import (
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/rawjson"
)

// Statement says to one upstream, for a minute, who makes a call (decision 122). It opens nothing here: its typ is
// TypeCaller, which nothing but a reader of statements accepts.
type Statement struct {
	Issuer    string
	Audience  string // the upstream's origin
	Subject   string // the user, or ClientID for an application acting for itself
	ClientID  string
	Actors    []string // act, the current one first; at most MaxActors
	Tool      string   // MEMBER__NAME, or the product of a service behind the proxy
	RequestID string   // rid; "": it is about no one request
	ID        string   // jti; "": it is good for many calls
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// SignStatement signs a statement with ES256, whichever algorithm access tokens have: an upstream then needs one kind
// of key.
func (k *Keys) SignStatement(s Statement) (string, error) {
	for _, text := range []string{s.Issuer, s.Audience, s.Subject, s.ClientID, s.Tool} {
		if text == "" || !utf8.ValidString(text) {
			return "", errors.New("token: iss, aud, sub, client_id and tool of a statement must be UTF-8 and not empty")
		}
	}
	if err := checkActors(s.Actors); err != nil {
		return "", err
	}
	return k.Sign(ES256, TypeCaller, s.append(make([]byte, 0, 512)))
}

func (s Statement) append(b []byte) []byte {
	b = rawjson.AppendString(append(b, `{"iss":`...), s.Issuer)
	b = rawjson.AppendString(append(b, `,"sub":`...), s.Subject)
	b = rawjson.AppendString(append(b, `,"aud":`...), s.Audience)
	b = rawjson.AppendString(append(b, `,"client_id":`...), s.ClientID)
	b = rawjson.AppendString(append(b, `,"tool":`...), s.Tool)
	if s.RequestID != "" {
		b = rawjson.AppendString(append(b, `,"rid":`...), s.RequestID)
	}
	if s.ID != "" {
		b = rawjson.AppendString(append(b, `,"jti":`...), s.ID)
	}
	b = strconv.AppendInt(append(b, `,"iat":`...), s.IssuedAt.Unix(), 10)
	b = strconv.AppendInt(append(b, `,"exp":`...), s.ExpiresAt.Unix(), 10)
	return append(appendActors(b, s.Actors), '}')
}

// Statement reads a statement for an audience, which must be its only one. The error is ErrInvalid, and ErrUnknownKey
// if the issuer may have published its key since.
func (p *Published) Statement(text, audience string) (s Statement, err error) {
	if len(text) > maxToken {
		return s, invalid("longer than 8 KiB")
	}
	payload, _, err := open(text, TypeCaller, *p.keys.Load())
	if err != nil {
		return s, err
	}
	o, err := parseObject(payload)
	if err != nil {
		return s, invalid("claims: " + err.Error())
	}
	c := reader{object: o}
	s = Statement{Issuer: c.name("iss"), Audience: c.name("aud"), Subject: c.name("sub"), ClientID: c.name("client_id"),
		Actors: c.actors(), Tool: c.name("tool"), IssuedAt: c.time("iat"), ExpiresAt: c.time("exp")}
	for name, to := range map[string]*string{"rid": &s.RequestID, "jti": &s.ID} {
		if _, there := o[name]; there {
			*to = c.name(name)
		}
	}
	now := time.Now()
	switch {
	case c.err != nil:
		return Statement{}, invalid(c.err.Error())
	case s.Issuer != p.issuer:
		return Statement{}, invalid("from another issuer")
	case s.Audience != audience:
		return Statement{}, errAudience
	case !now.Before(s.ExpiresAt):
		return Statement{}, errExpired
	case now.Add(ahead).Before(s.IssuedAt):
		return Statement{}, errEarly
	}
	return s, nil
}
