package command

import (
	_ "embed"

	"github.com/keystile/keystile"
)

//go:embed openapi.json
var rootAPI []byte

// openAPI returns the documents that describe every endpoint of the program but two: the sign-in page and the demo,
// which are for people. The services of gateway.products have documents of their own.
func openAPI(s *keystile.Service) [][]byte {
	return [][]byte{rootAPI, s.OAuth.OpenAPI(), s.Gateway.OpenAPI(), s.Console.OpenAPI(), s.Registry.OpenAPI(),
		s.Bus.OpenAPI(), s.Legacy.OpenAPI()}
}
