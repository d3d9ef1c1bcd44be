// Command agent turns an API into tools and calls one, all in one process: provider,
// gateway, registrar and bus stand in one mux, next to the API that is registered.
//
//	host.go       the mux: four packages and how they are connected
//	weather.yaml  what the API offers
//	agent.go      an agent: it gets a token, lists the tools and calls one
//	main.go       go run ./examples/agent
package main
