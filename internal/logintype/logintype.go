// Package logintype names the login types of protocol 1.
package logintype

import "github.com/keystile/keystile/storage"

// Of returns the login type of a sign-in method: self for one that the protocol has no name for.
func Of(method string) string {
	switch method {
	case storage.LoginEmail, storage.LoginWX, storage.LoginAlipay, storage.LoginQQ, storage.LoginDouyin:
		return method
	}
	return storage.LoginSelf
}
