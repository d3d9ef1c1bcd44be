// Package logintype names the login types of protocol 1.
package logintype

import "github.com/keystile/keystile/storage"

// Login types, as applications receive them.
const (
	Protocol = "protocol" // the login types of protocol 1
	Extended = "extended" // the sign-in method itself
)

// Shown returns what applications are told of a sign-in method, under one of the two settings.
func Shown(setting, method string) string {
	if setting == Extended && method != "" {
		return method
	}
	return Of(method)
}

// Method returns the sign-in method that a client of the old endpoints asks for with a type.
func Method(asked string) string {
	if asked == "wework" { // what aggregated logins call it
		return storage.LoginWeCom
	}
	return asked
}

// Told returns what a client of the old endpoints is told of a sign-in method: the type that it asked for, if that
// means this method, else the login type of protocol 1.
func Told(asked, method string) string {
	if asked != "" && Method(asked) == method {
		return asked
	}
	return Of(method)
}

// Of returns the login type of a sign-in method: self for one that the protocol has no name for.
func Of(method string) string {
	switch method {
	case storage.LoginEmail, storage.LoginWX, storage.LoginAlipay, storage.LoginQQ, storage.LoginDouyin:
		return method
	}
	return storage.LoginSelf
}
