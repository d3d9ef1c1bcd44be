package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func aToken() driver.Token {
	now := time.Unix(1.7e9, 12345).UTC()
	return driver.Token{Key: driver.Key{1, 2, 3}, Kind: driver.KindRefresh, Grant: "grant", GrantedAt: now,
		AppID: "app", UserID: "user",
		Scope: "openid", IssuedAt: now, ExpiresAt: now.Add(time.Hour), LoginType: "self"}
}

// Of a token each bit of each column that the checksum covers is flipped, as the database would return it.
func TestFlippedBitsOfATokenAreNeverServed(t *testing.T) {
	good := aToken()
	rest, err := encode(good)
	if err != nil {
		t.Fatal(err)
	}
	columns := func() (driver.Token, map[string][]byte) {
		key := good.Key
		return driver.Token{}, map[string][]byte{"key": key[:], "grant": []byte(good.Grant), "app": []byte(good.AppID),
			"user":    []byte(good.UserID),
			"granted": stamp(good.GrantedAt), "ends": stamp(good.ExpiresAt), "rest": append([]byte{}, rest...)}
	}
	reads := func(t driver.Token, c map[string][]byte) error {
		t.Key, t.Grant, t.AppID, t.UserID = driver.Key(c["key"]), string(c["grant"]), string(c["app"]), string(c["user"])
		if err := read(c["granted"], &t.GrantedAt, c["ends"], &t.ExpiresAt); err != nil {
			return err
		}
		return decodeWhole(c["rest"], &t)
	}
	if err := reads(columns()); err != nil {
		t.Fatal(err)
	}
	_, all := columns()
	for name, column := range all {
		for bit := range 8 * len(column) {
			token, c := columns()
			c[name][bit/8] ^= 1 << (bit % 8)
			var row driver.Damaged
			if err := reads(token, c); !errors.As(err, &row) {
				t.Errorf("%s, bit %d: %v, want an error that names the token", name, bit, err)
			}
		}
	}
}

// Rows of a version without checksums are read, and that version reads those of this one.
func TestTokenWithoutAChecksumIsRead(t *testing.T) {
	good := aToken()
	rest, err := encode(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"without": rest[:len(rest)-34], "by a version without": rest} {
		got := driver.Token{Key: good.Key, Grant: good.Grant, GrantedAt: good.GrantedAt, AppID: good.AppID,
			UserID: good.UserID, ExpiresAt: good.ExpiresAt}
		if name == "without" {
			err = decodeWhole(data, &got)
		} else {
			err = decode(data, &got)
		}
		if err != nil || got != good {
			t.Errorf("%s it is read as %+v, %v", name, got, err)
		}
	}
}
