// Package statement signs and reads what an upstream is told of the caller of one call (decision 122): a JWT of the typ
// token.TypeCaller, which nothing else accepts.
package statement

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/token"
)

// Statement says to one upstream, for a minute, who makes a call.
type Statement struct {
	Issuer    string
	Audience  string // the upstream's origin
	Subject   string // the user, or ClientID for an application acting for itself
	ClientID  string
	Actors    []string // act, the current one first; at most token.MaxActors
	Tool      string   // MEMBER__NAME, or the product of a service behind the proxy
	RequestID string   // rid; "": it is about no one request
	ID        string   // jti; "": it is good for many calls
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Sign signs a statement with ES256, whichever algorithm access tokens have: an upstream then needs one kind of key.
func Sign(keys *token.Keys, s Statement) (string, error) {
	named := append([]string{s.Issuer, s.Audience, s.Subject, s.ClientID, s.Tool}, s.Actors...)
	if slices.ContainsFunc(named, func(text string) bool { return text == "" || !utf8.ValidString(text) }) {
		return "", errors.New("statement: iss, aud, sub, client_id, tool and actors must be UTF-8 and not empty")
	}
	if len(s.Actors) > token.MaxActors {
		return "", fmt.Errorf("statement: more than %d act for the user", token.MaxActors)
	}
	return keys.Sign(token.ES256, token.TypeCaller, s.append(make([]byte, 0, 512)))
}

func (s *Statement) append(b []byte) []byte {
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
	for _, actor := range s.Actors {
		b = rawjson.AppendString(append(b, `,"act":{"sub":`...), actor)
	}
	return append(b, "}}}}}}}}}}}"[:1+len(s.Actors)]...)
}

// ahead bounds how far ahead of this machine the one that signed a statement may be, as for access tokens
// (decision 99).
const ahead = 2 * time.Minute

// Read reads a statement of an issuer for an audience, which must be its only one. The error is token.ErrInvalid, and
// token.ErrUnknownKey if the issuer may have published its key since.
func Read(keys *token.Published, text, issuer, audience string) (Statement, error) {
	payload, err := keys.Open(text, token.TypeCaller)
	if err != nil {
		return Statement{}, err
	}
	s, err := parse(payload)
	now := time.Now()
	switch {
	case err != nil:
	case s.Issuer != issuer:
		err = errors.New("from another issuer")
	case s.Audience != audience:
		err = errors.New("meant for another upstream")
	case !now.Before(s.ExpiresAt):
		err = errors.New("expired")
	case now.Add(ahead).Before(s.IssuedAt):
		err = errors.New("not valid yet")
	default:
		return s, nil
	}
	return Statement{}, fmt.Errorf("%w: a statement %w", token.ErrInvalid, err)
}

// claims are the members by their exact names.
type claims map[string]json.RawMessage

// parse reads what a statement claims. Its signer is known, so it is read for what it says, and refused where it says
// something in a way that is not ours.
func parse(payload []byte) (s Statement, err error) {
	var c claims
	limits := rawjson.Limits{Depth: token.MaxActors + 1, Once: true}
	if rawjson.Check(payload, limits) != nil || json.Unmarshal(payload, &c) != nil || c == nil {
		return s, errors.New("is not one JSON object")
	}
	s.Actors, err = c.actors()
	for name, to := range map[string]*string{"iss": &s.Issuer, "aud": &s.Audience, "sub": &s.Subject,
		"client_id": &s.ClientID, "tool": &s.Tool, "rid": &s.RequestID, "jti": &s.ID} {
		if _, there := c[name]; !there && (name == "rid" || name == "jti") {
			continue
		}
		if *to = c.text(name); *to == "" {
			err = fmt.Errorf("has no %s", name)
		}
	}
	for name, to := range map[string]*time.Time{"iat": &s.IssuedAt, "exp": &s.ExpiresAt} {
		seconds, wrong := strconv.ParseUint(string(c[name]), 10, 33)
		if *to = time.Unix(int64(seconds), 0).UTC(); wrong != nil {
			err = fmt.Errorf("has no %s in whole seconds", name)
		}
	}
	return s, err
}

// text returns a member that is a string, "" if it is none.
func (c claims) text(name string) (text string) {
	if raw := c[name]; len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// actors reads act (RFC 8693 4.1).
func (c claims) actors() (actors []string, err error) {
	raw, more := c["act"]
	for more {
		var act claims
		if json.Unmarshal(raw, &act) != nil || act.text("sub") == "" {
			return nil, errors.New("has an act without a sub")
		}
		actors = append(actors, act.text("sub"))
		raw, more = act["act"]
	}
	return actors, nil
}
