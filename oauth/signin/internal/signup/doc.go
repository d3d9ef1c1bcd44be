// Package signup creates accounts by a form.
//
// # Choices
//
// Only a code sent to an address proves it: an address typed at sign-up is stored nowhere until
// its code comes back, so nobody can prepare an account in another's name.
package signup
