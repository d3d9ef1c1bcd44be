package bolt

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
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
	if older := bucket(tx, revocationsBucket).Get(key); older != nil {
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
	return bucket(tx, revocationsBucket).Put(key, encodeRevocation(r))
}

// forget removes a stored revocation from everywhere.
func forget(tx *bbolt.Tx, key []byte) error {
	revocations := bucket(tx, revocationsBucket)
	r := decodeRevocation(key, revocations.Get(key))
	if err := bucket(tx, feedBucket).Delete(appendNumber(nil, r.Seq)); err != nil {
		return err
	}
	if err := dropEnd(tx, r.Until, aRevocation, key); err != nil {
		return err
	}
	return revocations.Delete(key)
}

// Revocations returns the feed behind after.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) (page []driver.Revocation, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		revocations := bucket(tx, revocationsBucket)
		feed := bucket(tx, feedBucket).Cursor()
		for _, key := feed.Seek(behind(after)); key != nil && len(page) < n; _, key = feed.Next() {
			page = append(page, decodeRevocation(key, revocations.Get(key)))
		}
		return nil
	})
	return page, err
}

// covered looks at the revocations, not the token: a token that is written after the
// revocation that ends it is ended all the same.
func covered(tx *bbolt.Tx, t driver.Token) bool {
	revocations := bucket(tx, revocationsBucket)
	for _, key := range [][]byte{
		join(driver.RevokeGrant, t.Grant),
		join(driver.RevokeApp, t.AppID),
		join(driver.RevokeUser, t.UserID),
		join(driver.RevokeConsent, driver.ConsentID(t.AppID, t.UserID)),
	} {
		if value := revocations.Get(key); value != nil && decodeRevocation(key, value).Covers(t) {
			return true
		}
	}
	return false
}

func encodeRevocation(r driver.Revocation) []byte {
	return appendTime(appendTime(appendNumber(nil, r.Seq), r.Before), r.Until)
}

func decodeRevocation(key, value []byte) (r driver.Revocation) {
	kind, id, _ := bytes.Cut(key, []byte{0})
	r.Kind, r.ID = string(kind), string(id[:len(id)-1])
	r.Seq, value = cutNumber(value)
	r.Before, value = cutTime(value)
	r.Until, _ = cutTime(value)
	return r
}
