// Command selfservice gives the service itself to an agent: it registers its own OpenAPI
// document on its own bus, and an agent asks for its quota by a tool.
//
//	host.go     the mux: four packages, and the document of what they serve
//	register.go the document, less what the token does not open, becomes tools
//	agent.go    an agent: it lists the tools and calls one
//	main.go     go run ./examples/selfservice
//
// With the program instead of your own mux it is two commands, for a file with an access
// token of the application in whose name the tools shall act:
//
//	curl http://127.0.0.1:8080/openapi.json > keystile.json
//	keystile capability register keystile --upstream http://127.0.0.1:8080 --openapi keystile.json \
//		--auth-type bearer --auth-secret - < token.txt
//
// The server must be started with --upstreams-allow-private 127.0.0.1:8080, because its own
// address is a private one.
package main
