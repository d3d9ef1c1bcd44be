package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// Issue stores all tokens or none.
func (s *Store) Issue(ctx context.Context, tokens ...driver.Token) error {
	if len(tokens) == 0 {
		return s.idle(ctx)
	}
	given, err := columnsOf(tokens)
	if err != nil {
		return err
	}
	return s.run(ctx, issueTokens, func(ctx context.Context, c conn, again bool) error {
		err := c.exec(ctx, issueTokens, given...)
		if is(err, uniqueViolation) {
			if !again {
				return driver.ErrExists
			}
			// An attempt whose answer was lost has stored them: nobody else knows these keys.
			own, err := c.stored(ctx, tokens)
			if err == nil && !own {
				return driver.ErrExists
			}
			return err
		}
		return err
	})
}

// Token returns the token with this key.
func (s *Store) Token(ctx context.Context, key driver.Key) (t driver.Token, err error) {
	err = s.run(ctx, readToken, func(ctx context.Context, c conn, _ bool) (err error) {
		t, err = c.token(ctx, key)
		return err
	})
	return t, err
}

func (c conn) token(ctx context.Context, key driver.Key) (driver.Token, error) {
	t := driver.Token{Key: key}
	var granted, ends, spent, more []byte
	err := c.row(ctx, readToken, []any{key[:]}, &t.Grant, &t.AppID, &t.UserID, &granted, &ends, &spent, &more)
	if err != nil {
		return driver.Token{}, err
	}
	if err := read(granted, &t.GrantedAt, ends, &t.ExpiresAt, spent, &t.SpentAt); err != nil {
		return driver.Token{}, err
	}
	return t, decodeWhole(more, &t)
}

// stored reports whether all of these tokens are stored. An error means that it is not known: the answer to
// this question may be lost too, and "no" would then be told of tokens that are there.
func (c conn) stored(ctx context.Context, tokens []driver.Token) (bool, error) {
	for _, t := range tokens {
		switch _, err := c.token(ctx, t.Key); {
		case errors.Is(err, driver.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// Exchange spends one token and stores next. It is one statement. Only when that has found nothing
// to spend is the verdict looked for, which is stable: spent stays spent, and revoked revoked.
func (s *Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	given, err := columnsOf(next)
	if err != nil {
		return err
	}
	spends := stamp(at)
	if len(next) == 0 { // else the tokens that follow tell whose work it is
		spends = drawn(spends)
	}
	given = append(given, key[:], spends)
	return s.run(ctx, exchangeToken, func(ctx context.Context, c conn, again bool) error {
		for range verdictTries {
			var used int
			err := c.row(ctx, exchangeToken, given, &used)
			switch {
			case is(err, uniqueViolation):
				return driver.ErrExists
			case err != nil || used == 1:
				return err
			}
			var spent []byte
			var free bool
			if err := c.row(ctx, judgeToken, []any{key[:]}, &spent, &free); err != nil { // ErrNotFound too
				return err
			}
			if again && bytes.Equal(spent, spends) {
				own, err := c.stored(ctx, next)
				if own || err != nil {
					return err // nil: by an attempt of this call, whose answer was lost
				}
			}
			switch {
			case spent != nil:
				return driver.ErrSpent
			case !free:
				return driver.ErrRevoked
			}
			// It was issued behind the first look, or another exchange of it was rolled back.
		}
		return errUnsettled
	})
}

// rest has the fields that no statement looks at.
type rest struct {
	Kind        string    `json:"kind,omitempty"`
	Scope       string    `json:"scope,omitempty"`
	IssuedAt    time.Time `json:"issued_at,omitzero"`
	AuthTime    time.Time `json:"auth_time,omitzero"`
	LoginType   string    `json:"login_type,omitempty"`
	Resource    string    `json:"resource,omitempty"`
	RedirectURI string    `json:"redirect_uri,omitempty"`
	Challenge   string    `json:"challenge,omitempty"`
	Method      string    `json:"method,omitempty"`
	Nonce       string    `json:"nonce,omitempty"`
	IP          string    `json:"ip,omitempty"`
	SignIn      string    `json:"sign_in,omitempty"`
}

// encode returns them with a checksum of the whole token behind them, but for the time at which it is spent: that comes
// later, in a column of its own. Versions without checksums read past the white space that it is.
func encode(t driver.Token) ([]byte, error) {
	data, err := json.Marshal(rest{t.Kind, t.Scope, t.IssuedAt.UTC(), t.AuthTime.UTC(), t.LoginType, t.Resource,
		t.RedirectURI, t.Challenge, t.Method, t.Nonce, t.IP, t.SignIn})
	if err != nil {
		return nil, err
	}
	return rowsum.AppendText(data, sumOf(t, data), rowsum.Behind), nil
}

// sumOf returns the checksum of a token whose other fields are data.
//
// It stands behind the JSON and covers all columns but the time at which the token was spent; package storage
// gives each document one. A damaged row is an error (driver.Damaged) and no verdict. Revocations,
// usage, audit records (which are chained by hashes) and index entries are left to the checksums of
// PostgreSQL's pages (data_checksums, on by default from 18): SQL reads and joins them, and could calculate a
// CRC from 18 on only. Neither detects a row that was changed by SQL.
func sumOf(t driver.Token, data []byte) uint32 {
	head := append(append(make([]byte, 0, 256), t.Key[:]...), stamp(t.GrantedAt)...)
	head = append(head, end(t.ExpiresAt)...)
	for _, text := range []string{t.Grant, t.AppID, t.UserID} {
		head = append(append(head, 0), text...)
	}
	return rowsum.Of(rowsum.Of(0, head), data)
}

// decodeWhole decodes what encode has returned, of a token that has its other fields. A damaged one is an error.
func decodeWhole(data []byte, t *driver.Token) error {
	body, sum, form := rowsum.CutText(data, rowsum.Behind)
	if form == rowsum.Broken || form == rowsum.Whole && sum != sumOf(*t, body) {
		return &damaged{t.Key}
	}
	return decode(body, t)
}

// damaged is a driver.Damaged.
type damaged struct{ key driver.Key }

// Damaged returns which token it is.
func (d *damaged) Damaged() (table, key string) { return "token", fmt.Sprintf("%x", d.key) }

// RowKey returns the key of its row, after which a reader goes on.
func (d *damaged) RowKey() []byte { return d.key[:] }

func (d *damaged) Error() string {
	return fmt.Sprintf("the token %x", d.key) +
		" is damaged: it is not what was written. It is not served; everything else is. " +
		"Let keystile storage check name all damaged rows, and bring them back from a backup of the database"
}

func decode(data []byte, t *driver.Token) error {
	var r rest
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	t.Kind, t.Scope, t.IssuedAt, t.AuthTime, t.LoginType, t.Resource = r.Kind, r.Scope, r.IssuedAt, r.AuthTime,
		r.LoginType, r.Resource
	t.RedirectURI, t.Challenge, t.Method, t.Nonce, t.IP, t.SignIn = r.RedirectURI, r.Challenge, r.Method, r.Nonce, r.IP,
		r.SignIn
	return nil
}

// briefly limits the life of a token that is removed by itself, and not with its partition.
const briefly = 24 * time.Hour

// columnsOf turns tokens into one array for each column: the arguments of givenTokens. They are in the
// order of their keys, so that two calls with the same ones wait for each other in that order: in
// opposite orders both would wait for a second until one was chosen to fail.
func columnsOf(tokens []driver.Token) ([]any, error) {
	n := len(tokens)
	tokens = slices.SortedFunc(slices.Values(tokens),
		func(a, b driver.Token) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	keys, grants, apps, users := make([][]byte, n), make([]string, n), make([]string, n), make([]string, n)
	granted, ends, spent, more := make([][]byte, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
	brief := make([]bool, n)
	for i, t := range tokens {
		keys[i], grants[i], apps[i], users[i] = t.Key[:], t.Grant, t.AppID, t.UserID
		granted[i], ends[i], spent[i] = stamp(t.GrantedAt), end(t.ExpiresAt), end(t.SpentAt)
		brief[i] = !t.ExpiresAt.IsZero() && t.ExpiresAt.Sub(t.IssuedAt) <= briefly
		data, err := encode(t)
		if err != nil {
			return nil, err
		}
		more[i] = data
	}
	return []any{keys, grants, apps, users, granted, ends, spent, brief, more}, nil
}

// read reads pairs of stored bytes and the time they are for.
func read(pairs ...any) (err error) {
	for i := 0; i < len(pairs); i += 2 {
		if *pairs[i+1].(*time.Time), err = when(pairs[i].([]byte)); err != nil {
			return err
		}
	}
	return nil
}
