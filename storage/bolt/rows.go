package bolt

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

var _ transfer.Adapter = (*Store)(nil)

// Rows returns a page of a table. It reads beside the writer, as every read does.
//
// Each page is read in a transaction of its own, so no pages are kept from being used again for longer than
// that.
func (s *Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
	if table == transfer.Tokens {
		if err := s.settled(ctx); err != nil {
			return nil, err
		}
	}
	p := transfer.NewPage(n)
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		switch table {
		case transfer.Counters:
			return counterRows(tx, after, p)
		case transfer.Tokens:
			return rows(tokenRows(tx), tx, after, p, tokenOf) // what an older version wrote lacks fields
		case transfer.Revocations:
			return rows(revocationRows(tx), tx, after, p, asItIs)
		case transfer.Usage:
			return usageRows(tx, after, p)
		case transfer.Batches:
			return rows(batchRows(tx), tx, after, p, asItIs)
		case transfer.Audit:
			return rows(auditRows(tx), tx, after, p, asItIs)
		case transfer.Documents:
			if after == nil {
				if err := checkBeside(tx); err != nil {
					return err
				}
			}
			return rows(docRows(tx), tx, after, p, asItIs)
		}
		return fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
	})
	if err != nil {
		return nil, err
	}
	return p.Rows, nil
}

// rows adds the rows of a bucket behind a key. One that is damaged is not copied: its copy would have a good sum.
func rows(k keyed, tx *bbolt.Tx, after []byte, p *transfer.Page, of func(key, body []byte) transfer.Row) error {
	from := append(bytes.Clone(after), 0) // no key is before 0x00
	var body []byte
	check := func(key, value []byte) (err error) {
		body, err = k.open(tx, key, value)
		return err
	}
	if k.table == auditBucket {
		trail := checkTrail(tx)
		check = func(key, value []byte) error { body = value; return trail(key, value) }
	}
	return walk(k.Bucket, k.table, from, check, func(key, _ []byte) bool { return p.Add(of(key, body)) })
}

// asItIs is for tables whose rows are stored as they are exchanged.
func asItIs(key, value []byte) transfer.Row {
	return transfer.Row{Key: bytes.Clone(key), Value: bytes.Clone(value)}
}

func tokenOf(key, value []byte) transfer.Row {
	return transfer.TokenRow(decodeToken(driver.Key(key), value))
}

// usageRows adds the hours of each application and then its days, which lie in front of them.
func usageRows(tx *bbolt.Tx, after []byte, p *transfer.Page) error {
	if after == nil { // a row whose key was damaged may lie anywhere
		every := func(_, _ []byte) bool { return true }
		if err := walk(bucket(tx, usageBucket), usageBucket, []byte{0}, checkCount, every); err != nil {
			return err
		}
	}
	c := bucket(tx, usageBucket).Cursor()
	app, from, spans := "", []byte(nil), []byte{hourly, daily}
	if after != nil {
		name, days, at, product, err := transfer.UsageKey(after)
		if err != nil {
			return err
		}
		if app = name; days {
			spans = spans[1:]
		}
		from = append(append(usageKey(app, spans[0], at), product...), 0)
	}
	for {
		for _, span := range spans {
			within := append(join(app), span)
			if from == nil {
				from = within
			}
			for key, value := c.Seek(from); bytes.HasPrefix(key, within); key, value = c.Next() {
				if err := checkCount(key, value); err != nil {
					return err
				}
				count := decodeCount(value)
				at, product := cutTime(key[len(within):])
				count.AppID, count.At, count.Product = app, at, string(product)
				if !p.Add(transfer.UsageRow(count, span == daily)) {
					return nil
				}
			}
			from = nil
		}
		key, _ := c.Seek(append([]byte(app), 1)) // behind all that begins with app and 0x00
		if key == nil {
			return nil
		}
		name, _, _ := bytes.Cut(key, []byte{0})
		app, spans = string(name), []byte{hourly, daily}
	}
}

// counterBucket is the bucket whose sequence a counter is.
var counterBucket = map[string]string{
	transfer.LastRecord: auditBucket, transfer.LastRevocation: feedBucket, transfer.LastVersion: docsBucket,
}

func counterRows(tx *bbolt.Tx, after []byte, p *transfer.Page) error {
	for _, name := range transfer.CounterNames() {
		row := transfer.CounterRow(name, bucket(tx, counterBucket[name]).Sequence())
		if bytes.Compare(row.Key, after) > 0 && !p.Add(row) {
			break
		}
	}
	return nil
}
