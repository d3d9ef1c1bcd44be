package bolt

import (
	"bytes"
	"context"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// Revoke stores revocations, each joined with an older one of its kind and id.
func (s *Store) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	if len(rs) == 0 {
		return nil
	}
	rs = append([]driver.Revocation{}, rs...)
	return s.write(ctx, func(tx *bbolt.Tx) error {
		for _, r := range rs {
			if err := revoke(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func revoke(tx *bbolt.Tx, r driver.Revocation) error {
	key := join(r.Kind, r.ID)
	older, err := revocationRows(tx).find(tx, key)
	if err != nil {
		return err
	}
	if older != nil {
		r = r.Join(decodeRevocation(key, older))
		if err := forget(tx, key); err != nil {
			return err
		}
	}
	seq, err := bucket(tx, feedBucket).NextSequence()
	if err != nil {
		return err
	}
	r.Seq = seq
	return insertRevocation(tx, r)
}

// insertRevocation writes a revocation where none is.
func insertRevocation(tx *bbolt.Tx, r driver.Revocation) error {
	key := join(r.Kind, r.ID)
	if err := bucket(tx, feedBucket).Put(appendNumber(nil, r.Seq), key); err != nil {
		return err
	}
	if err := noteEnd(tx, r.Until, aRevocation, key); err != nil {
		return err
	}
	return bucket(tx, revocationsBucket).Put(key, encodeRevocation(key, r))
}

// forget removes a stored revocation from everywhere.
func forget(tx *bbolt.Tx, key []byte) error {
	revocations := bucket(tx, revocationsBucket)
	stored, err := revocationRows(tx).find(tx, key)
	if err != nil {
		return err
	}
	if stored == nil {
		return damagedRow(revocationsBucket, key)
	}
	r := decodeRevocation(key, stored)
	if err := bucket(tx, feedBucket).Delete(appendNumber(nil, r.Seq)); err != nil {
		return err
	}
	if err := dropEnd(tx, r.Until, aRevocation, key); err != nil {
		return err
	}
	return revocations.Delete(key)
}

// Revocations returns the feed behind after. One that is damaged fails: what follows it is not known to be all.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) (page []driver.Revocation, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		rows, feed := revocationRows(tx), bucket(tx, feedBucket).Cursor()
		front, at := seek(feed, behind(after))
		if front.key != nil { // one whose Seq was damaged may lie there
			if _, err := revocationAt(tx, rows, front.key, front.value); err != nil {
				return err
			}
		}
		for seq, key := at.key, at.value; seq != nil && len(page) < n; seq, key = feed.Next() {
			r, err := revocationAt(tx, rows, seq, key)
			if err != nil {
				return err
			}
			if r.Seq <= after {
				return damagedRow(feedBucket, seq)
			}
			page, after = append(page, r), r.Seq
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// revocationAt returns the revocation that an entry of the feed leads to.
func revocationAt(tx *bbolt.Tx, rows keyed, seq, key []byte) (r driver.Revocation, err error) {
	value := rows.Get(key)
	if len(seq) != 8 || value == nil {
		return r, damagedRow(feedBucket, seq)
	}
	if value, err = rows.open(tx, key, value); err != nil {
		return r, err
	}
	if r = decodeRevocation(key, value); r.Seq != binary.BigEndian.Uint64(seq) {
		return r, damagedRow(feedBucket, seq)
	}
	return r, nil
}

// covered looks at the revocations, not the token: a token that is written after the
// revocation that ends it is ended all the same.
func covered(tx *bbolt.Tx, t driver.Token) (bool, error) {
	revocations := revocationRows(tx)
	for _, key := range [][]byte{
		join(driver.RevokeGrant, t.Grant),
		join(driver.RevokeApp, t.AppID),
		join(driver.RevokeUser, t.UserID),
		join(driver.RevokeConsent, driver.ConsentID(t.AppID, t.UserID)),
	} {
		value, err := revocations.find(tx, key)
		if err != nil {
			return false, err
		}
		if value != nil && decodeRevocation(key, value).Covers(t) {
			return true, nil
		}
	}
	return false, nil
}

func encodeRevocation(key []byte, r driver.Revocation) []byte {
	body := appendNumber(make([]byte, 0, revocationSize+rowsum.BinarySize), r.Seq)
	return sealRow(revocationSeed, key, appendTime(appendTime(body, r.Before), r.Until))
}

func decodeRevocation(key, value []byte) (r driver.Revocation) {
	kind, id, _ := bytes.Cut(key, []byte{0})
	r.Kind, r.ID = string(kind), string(id[:len(id)-1])
	r.Seq, value = cutNumber(value)
	r.Before, value = cutTime(value)
	r.Until, _ = cutTime(value)
	return r
}
