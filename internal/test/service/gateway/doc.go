// Package gateway has the tests of package gateway that need the provider: they ask for a token at /oauth/token
// and come back with it. They stand here since `go mod tidy` counts what the tests of an imported package
// import: a host that imports the gateway alone would pay for the provider.
package gateway
