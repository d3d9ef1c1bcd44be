// Command embed is a small service that has its own users, pages and sessions, and lets
// other applications sign its users in: the Keystile provider stands in its mux, next to
// its own pages.
//
//	users.go    its user table, as users.Users and oauth.Users want it
//	signin.go   its own sign-in page and session, as oauth.SignIn wants them
//	service.go  its mux: own pages, the provider, and a handler that asks for a bearer
//	main.go     go run ./examples/embed
package main
