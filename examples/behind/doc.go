// Command behind is a service behind Keystile's gateway, with the provider in the same
// process: an application gets a token, calls the service, and its quota falls by one.
//
//	service.go  the mux: provider, gateway, and the service behind gateway.Guard
//	main.go     go run ./examples/behind
//
// A service in a process of its own needs none of this code. Its proxy asks Keystile about
// each call; FORWARDAUTH.md says which file beside this one is for which proxy.
package main
