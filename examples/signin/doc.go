// Command signin is a company's own sign-in: its staff are in a table of its own, and sign
// in with a password or with the badge around their neck. The pages are Keystile's. Read
// it in this order:
//
//	staff.go    the user table, as users.Users and oauth.Users want it
//	ways.go     the table of the ways in, as users.ConnectedUsers and users.LoginStore want it
//	badge.go    the method of its own, as connector.Connector wants it, and its page
//	host.go     the mux
//	main.go     go run ./examples/signin
//
// A host that also has a sign-in page of its own is in examples/embed. A table of package
// oauth/signin/users says what each interface opens.
package main
