//go:build !unix

package upstream

// canBeSilent is false where a connection cannot be asked without waiting: everything goes on to net/http.
const canBeSilent = false

func silent(uintptr) bool { return false }
