package limits

import "crypto/sha256"

// Account names an account, real or not, without keeping what was typed.
type Account = [sha256.Size]byte

// AccountOf names the account of something: a user, a username, an address.
func AccountOf(kind, name string) Account { return sha256.Sum256([]byte(kind + "\x00" + name)) }
