package transfer

import (
	"encoding/binary"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// TokenRow returns the row of a token.
func TokenRow(t driver.Token) Row {
	var value []byte
	times, texts := tokenParts(&t)
	for _, at := range times {
		value = appendTime(value, *at)
	}
	for _, text := range texts {
		value = appendText(value, *text)
	}
	return Row{t.Key[:], value}
}

// tokenParts lists what the value of a token's row has, in its order. A new field goes to the
// end of the texts.
func tokenParts(t *driver.Token) ([]*time.Time, []*string) {
	return []*time.Time{&t.SpentAt, &t.GrantedAt, &t.IssuedAt, &t.ExpiresAt, &t.AuthTime},
		[]*string{
			&t.Kind, &t.Grant, &t.AppID, &t.UserID, &t.Scope, &t.LoginType, &t.Resource,
			&t.RedirectURI, &t.Challenge, &t.Method, &t.Nonce, &t.IP, &t.SignIn,
		}
}

// RevocationRow returns the row of a revocation.
func RevocationRow(r driver.Revocation) Row {
	return Row{texts(r.Kind, r.ID), appendTime(appendTime(appendNumber(nil, r.Seq), r.Before), r.Until)}
}

// UsageRow returns the usage row of a day, or of an hour.
func UsageRow(c driver.Count, daily bool) Row {
	span := byte(0)
	if daily {
		span = 1
	}
	key := append(appendTime(append(texts(c.AppID), span), c.At), texts(c.Product)...)
	return Row{key, appendNumber(appendNumber(nil, uint64(c.Calls)), uint64(c.Errors))}
}

// BatchRow returns the row of a node, with the highest Seq seen from it.
func BatchRow(b driver.Batch) Row { return Row{texts(b.Node), appendNumber(nil, b.Seq)} }

// RecordRow returns the row of an audit record.
func RecordRow(r driver.Record) Row {
	return Row{appendNumber(nil, r.Seq), append(appendTime(nil, r.At), r.Data...)}
}

// DocRow returns the row of a document. Its index entries stay as they are and in their order.
func DocRow(d driver.Doc) Row {
	value := appendTime(appendNumber(nil, uint64(d.Version)), d.ExpiresAt)
	value = binary.AppendUvarint(value, uint64(len(d.Index)))
	for _, entry := range d.Index {
		value = appendText(value, entry)
	}
	return Row{texts(d.Kind, d.ID), append(value, d.Data...)}
}

// CounterRow returns the row of a counter: one of CounterNames, and the last number it has given.
func CounterRow(name string, last uint64) Row { return Row{texts(name), appendNumber(nil, last)} }

// texts makes a key of texts. None holds 0x00, so the keys lie as the texts do.
func texts(list ...string) []byte {
	var key []byte
	for _, text := range list {
		key = append(append(key, text...), 0)
	}
	return key
}

func appendNumber(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

// appendTime writes a time as 12 bytes that lie as times do: every time fits, to the nanosecond.
func appendTime(b []byte, t time.Time) []byte {
	b = appendNumber(b, uint64(t.Unix())^1<<63)
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

// appendText writes a text behind its length.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
