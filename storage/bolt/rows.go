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
func (s *Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
	p := transfer.NewPage(n)
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		switch table {
		case transfer.Counters:
			return counterRows(tx, after, p)
		case transfer.Tokens:
			return rows(bucket(tx, tokensBucket), after, p, tokenOf) // what an older version wrote lacks fields
		case transfer.Revocations:
			return rows(bucket(tx, revocationsBucket), after, p, asItIs)
		case transfer.Usage:
			return usageRows(tx, after, p)
		case transfer.Batches:
			return rows(bucket(tx, batchesBucket), after, p, asItIs)
		case transfer.Audit:
			return rows(bucket(tx, auditBucket), after, p, asItIs)
		case transfer.Documents:
			return rows(bucket(tx, docsBucket), after, p, asItIs)
		}
		return fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
	})
	if err != nil {
		return nil, err
	}
	return p.Rows, nil
}

// rows adds the rows of a bucket behind a key.
func rows(b *bbolt.Bucket, after []byte, p *transfer.Page, of func(key, value []byte) transfer.Row) error {
	from := []byte{}
	if after != nil {
		from = append(bytes.Clone(after), 0)
	}
	c := b.Cursor()
	for key, value := c.Seek(from); key != nil; key, value = c.Next() {
		if !p.Add(of(key, value)) {
			break
		}
	}
	return nil
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
