// Command embed is a small service that has its own users and lets other applications sign its users in, by Keystile
// within it. Payroll, which it plays too, is such an application.
//
//	users.go    its user table, as users.Users and oauth.Users want it
//	service.go  its own pages, with all of Keystile, or with the provider alone
//	signin.go   its own sign-in page and session, as oauth.SignIn wants them, for the provider alone
//	payroll.go  the application
//	main.go     go run ./examples/embed
package main
