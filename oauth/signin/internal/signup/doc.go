// Package signup makes users of people who fill in a form.
//
// # Choices
//
// Only a user's own email proves an address: one typed at sign-up is kept nowhere until its
// code comes back, so nobody can prepare an account in another's name.
package signup
