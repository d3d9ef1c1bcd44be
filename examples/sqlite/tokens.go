package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// timeText has a fixed width, so that texts sort by time.
const timeText = "2006-01-02T15:04:05.000000000Z"

// text writes a time; "" is the zero time.
func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeText)
}

// when reads what text wrote.
func when(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(timeText, text)
}

// found turns SQL's error for no rows into the contract's.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return driver.ErrNotFound
	}
	return err
}

// next returns the next number of a sequence. A step that is taken back takes its numbers back.
func (x *step) next(name string) (seq int64, err error) {
	return seq, x.row("INSERT INTO last VALUES (?, 1) ON CONFLICT DO UPDATE SET seq = seq + 1 RETURNING seq",
		name).Scan(&seq)
}

// Issue implements driver.Backend.
func (s *Store) Issue(ctx context.Context, tokens ...driver.Token) error {
	rows, err := rowsOf(tokens)
	if err != nil || len(rows) == 0 {
		return err
	}
	return s.write(ctx, func(x *step) error { return x.issue(rows) })
}

// tokenRow is a token as it is stored.
type tokenRow struct {
	key         driver.Key
	ends, spent string
	data        []byte
}

// rowsOf reads what the caller may change as soon as it is answered.
func rowsOf(tokens []driver.Token) ([]tokenRow, error) {
	rows := make([]tokenRow, len(tokens))
	for i, t := range tokens {
		for _, at := range []*time.Time{&t.GrantedAt, &t.IssuedAt, &t.ExpiresAt, &t.AuthTime} {
			*at = at.UTC() // JSON would cut a zone to its minutes
		}
		data, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		rows[i] = tokenRow{t.Key, text(t.ExpiresAt), text(t.SpentAt), data}
	}
	return rows, nil
}

func (x *step) issue(rows []tokenRow) error {
	for _, r := range rows {
		done, err := x.exec("INSERT INTO token VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", r.key[:], r.ends, r.spent, r.data)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(driver.ErrExists, err)
		}
	}
	return nil
}

const tokenQuery = "SELECT spent, data FROM token WHERE key = ?"

func scanToken(row *sql.Row, key driver.Key) (t driver.Token, err error) {
	var spent string
	var data []byte
	if err := found(row.Scan(&spent, &data)); err != nil {
		return t, err
	}
	return readToken(key, spent, data)
}

func readToken(key driver.Key, spent string, data []byte) (t driver.Token, err error) {
	if err := json.Unmarshal(data, &t); err != nil {
		return t, err
	}
	t.Key = key
	t.SpentAt, err = when(spent)
	return t, err
}

// Token implements driver.Backend.
func (s *Store) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	return scanToken(s.reads.QueryRowContext(ctx, tokenQuery, key[:]), key)
}

// Exchange implements driver.Backend. The verdicts come in the contract's order.
func (s *Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	rows, err := rowsOf(next)
	if err != nil {
		return err
	}
	return s.write(ctx, func(x *step) error {
		t, err := scanToken(x.row(tokenQuery, key[:]), key)
		if err != nil {
			return err
		}
		if !t.SpentAt.IsZero() {
			return driver.ErrSpent
		}
		if covered, err := x.covered(t); err != nil || covered {
			return errors.Join(verdict(covered, driver.ErrRevoked), err)
		}
		if _, err := x.exec("UPDATE token SET spent = ? WHERE key = ?", text(at), key[:]); err != nil {
			return err
		}
		return x.issue(rows)
	})
}

func verdict(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// covered looks at the revocations: they hold for a token that is written after them, too.
func (x *step) covered(t driver.Token) (bool, error) {
	for _, about := range [][2]string{
		{driver.RevokeGrant, t.Grant}, {driver.RevokeApp, t.AppID}, {driver.RevokeUser, t.UserID},
		{driver.RevokeConsent, driver.ConsentID(t.AppID, t.UserID)},
	} {
		r, err := x.revocation(about[0], about[1])
		switch {
		case err == nil && r.Covers(t):
			return true, nil
		case err != nil && !errors.Is(err, driver.ErrNotFound):
			return false, err
		}
	}
	return false, nil
}

type scanner interface{ Scan(...any) error }

const revocationColumns = "kind, id, seq, before, until"

func scanRevocation(row scanner) (r driver.Revocation, err error) {
	var before, until string
	if err := found(row.Scan(&r.Kind, &r.ID, &r.Seq, &before, &until)); err != nil {
		return r, err
	}
	if r.Before, err = when(before); err == nil {
		r.Until, err = when(until)
	}
	return r, err
}

func (x *step) revocation(kind, id string) (driver.Revocation, error) {
	return scanRevocation(x.row("SELECT "+revocationColumns+" FROM revocation WHERE kind = ? AND id = ?", kind, id))
}

// Revoke implements driver.Backend. A revocation joins an older one and takes a new number.
func (s *Store) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	rs = append([]driver.Revocation(nil), rs...)
	return s.write(ctx, func(x *step) error {
		for _, r := range rs {
			older, err := x.revocation(r.Kind, r.ID)
			switch {
			case err == nil:
				r = r.Join(older)
			case !errors.Is(err, driver.ErrNotFound):
				return err
			}
			seq, err := x.next("revocation")
			if err != nil {
				return err
			}
			if _, err := x.exec("INSERT OR REPLACE INTO revocation VALUES (?, ?, ?, ?, ?)", r.Kind, r.ID, seq, text(r.Before),
				text(r.Until)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Revocations implements driver.Backend.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) (feed []driver.Revocation, err error) {
	rows, err := s.reads.QueryContext(ctx,
		"SELECT "+revocationColumns+" FROM revocation WHERE seq > ? ORDER BY seq LIMIT ?", number(after), n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRevocation(rows)
		if err != nil {
			return nil, err
		}
		feed = append(feed, r)
	}
	return feed, rows.Err()
}

// number is a number of a sequence as SQL has it; none is above the largest.
func number(seq uint64) int64 { return int64(min(seq, math.MaxInt64)) }
